-- A log of years: changes of table item as its trigger would have logged them, on days of the past. Each transaction
-- makes five changes, of rows far apart; each row has been changed twenty times.

create function bench.make_days(first_day date, days integer) returns void language plpgsql as $$
declare
  partition text;
begin
  for d in 0..days - 1 loop
    partition := 'change_' || to_char(first_day + d, 'YYYYMMDD');
    continue when to_regclass('rowrelay.' || partition) is not null;
    execute format('create table rowrelay.%I (like rowrelay.change including all)', partition);
    execute format('alter table rowrelay.change attach partition rowrelay.%I for values from (%L) to (%L)',
                   partition, first_day + d, first_day + d + 1);
  end loop;
end
$$;

-- Changes number first to last of all. Several sessions may do parts of it.
create procedure bench.log_changes(first_day date, days integer, changes bigint, first bigint, last bigint)
language plpgsql as $$
declare
  keys constant bigint := changes / 20;
  n    bigint := first;
  filler constant text := repeat('x', 70);
begin
  while n <= last loop
    perform pg_current_xact_id(); -- a trigger's transaction has one before it logs anything
    insert into rowrelay.change (txid, captured_at, day, capture, op, key, actor, new_row)
    select pg_current_xact_id(), first_day + (i - 1) * (days * interval '1 day' / changes),
           first_day + ((i - 1) * days / changes)::integer, 1, case when i <= keys then 'i' else 'u' end::"char",
           k::text, 'app',
           format('{"id":%s,"customer":%s,"quantity":%s,"label":"item %s","description":"%s","price":%s.5,'
                  '"changed_at":"2024-02-29T12:00:00+00:00","active":true,"note":"%s","due":"2024-03-01"}',
                  k, k % 9973, i / keys, k, filler, k, filler)::json
      from generate_series(n, n + 4) as i
      cross join lateral (select (i * 7919) % keys as k) as chosen;
    commit;
    n := n + 5;
  end loop;
end
$$;

-- Runs a query for each argument, planned anew each time, and reads all of its rows.
-- Result: milliseconds each
create function bench.time_queries(query text, arguments text[]) returns setof double precision language plpgsql as $$
declare
  argument text;
  started  timestamptz;
  line     record;
begin
  foreach argument in array arguments loop
    started := clock_timestamp();
    for line in execute query using argument loop
      null;
    end loop;
    return next extract(epoch from clock_timestamp() - started) * 1000;
  end loop;
end
$$;
