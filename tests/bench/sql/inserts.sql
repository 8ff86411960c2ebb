-- The floor of a trigger in PL/pgSQL: a log and a queue as those of rowrelay, and a trigger that does nothing but
-- insert a row into each, with the same contents. No day is looked for, nothing may be altered, masked, left out or
-- refused.
create sequence bench.change_id;
create table bench.log (id bigint, txid xid8, captured_at timestamptz, day date, capture integer, op "char", key text,
                        db_user text, application_name text, new_row json, primary key (id, day));
create table bench.queue (change_id bigint, lane integer, day date, bytes integer, primary key (lane, change_id));

-- key: a column of the table, by whose hash its rows are divided into 64 lanes
create function bench.log_inserts(name text, key text) returns void language plpgsql as $$
begin
  execute format($f$
    create function bench.log_%1$s() returns trigger language plpgsql as $t$
    declare
      number bigint := nextval('bench.change_id');
    begin
      insert into bench.log (id, txid, captured_at, day, capture, op, key, db_user, application_name, new_row)
      values (number, pg_current_xact_id(), now(), %3$L, 1, 'u', new.%2$I, session_user,
              current_setting('application_name'), row_to_json(new));
      insert into bench.queue (change_id, lane, day, bytes)
      values (number, hashint8(new.%2$I) & 63, %3$L, 300);
      return null;
    end $t$;
    create trigger log after insert or update on %1$I for each row execute function bench.log_%1$s()$f$,
    name, key, current_date);
end
$$;

-- The floor of a statement trigger: both INSERTs for all rows of a statement at once, see bench.log_inserts().
create function bench.log_statements(name text, key text) returns void language plpgsql as $$
begin
  execute format($f$
    create function bench.log_%1$s() returns trigger language plpgsql as $t$
    begin
      with told as materialized (
        select nextval('bench.change_id') as id, r.%2$I as key, row_to_json(r) as image from arrived as r),
      logged as (
        insert into bench.log (id, txid, captured_at, day, capture, op, key, db_user, application_name, new_row)
        select t.id, pg_current_xact_id(), now(), %3$L, 1, 'u', t.key, session_user,
               current_setting('application_name'), t.image
          from told as t)
      insert into bench.queue (change_id, lane, day, bytes)
      select t.id, hashint8(t.key) & 63, %3$L, 300 from told as t;
      return null;
    end $t$;
    create trigger log after update on %1$I referencing new table as arrived
      for each statement execute function bench.log_%1$s()$f$, name, key, current_date);
end
$$;

-- Wakes tests/bench/bare_relay.c after each statement.
create function bench.ring() returns trigger language plpgsql as $$ begin notify bare_relay; return null; end $$;
create function bench.notify_inserts(name text) returns void language plpgsql as $$
begin
  execute format('create trigger ring after insert or update on %I for each statement execute function bench.ring()',
                 name);
end
$$;
