-- What every part of the benchmark starts from: how its tables look, and a workload.
create schema bench;

-- A table of an ordinary application: 10 columns, rows of about 230 bytes.
create function bench.make_table(name text, first_id bigint, last_id bigint) returns void language plpgsql as $$
begin
  execute format('create table %I (id bigint primary key, customer integer not null, quantity integer not null,
                                   label text, description text, price numeric, changed_at timestamptz, active boolean,
                                   note text, due date)', name);
  execute format('insert into %I select (r).* from bench.make_rows($1, $2) as r', name) using first_id, last_id;
end
$$;

create function bench.make_rows(first_id bigint, last_id bigint)
returns table (id bigint, customer integer, quantity integer, label text, description text, price numeric,
               changed_at timestamptz, active boolean, note text, due date)
language sql as $$
  select n, (n % 9973)::integer, (n % 7)::integer, 'item ' || n, repeat('x', 80), n * 1.5,
    timestamptz '2024-02-29 12:00+00', true, repeat('y', 60), current_date
    from generate_series(first_id, last_id) as n
$$;

-- An application at work on table item: of the changes 70 % are updates of any row, 25 % new rows, 5 % deletes of the
-- oldest ones; each is a statement of its own. Of several sessions each works on rows of its own.
create procedure bench.work(session integer, sessions integer, changes integer, in_transaction integer)
  language plpgsql as $$
declare
  oldest bigint := (select min(id) from item where id % sessions = session);
  newest bigint := (select max(id) from item where id % sessions = session);
  chosen bigint;
  dice   double precision;
  done   integer := 0;
begin
  perform setseed(session / 100.0);
  commit;
  while done < changes loop
    dice := random();
    if dice < 0.70 then
      chosen := oldest + sessions * floor(random() * ((newest - oldest) / sessions + 1))::bigint;
      update item set quantity = quantity + 1, price = price + 0.25, changed_at = clock_timestamp() where id = chosen;
    elsif dice < 0.95 then
      newest := newest + sessions;
      insert into item values (newest, done % 9973, 1, 'item ' || newest, repeat('x', 80), 12.50,
                               clock_timestamp(), true,
                               repeat('y', 60), current_date);
    else
      delete from item where id = oldest;
      oldest := oldest + sessions;
    end if;
    done := done + 1;
    if done % in_transaction = 0 then commit; end if;
  end loop;
end
$$;
