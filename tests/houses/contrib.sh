#!/usr/bin/env bash
# An extension in schema public promises its types, operators and functions by their bare names; here is every one of the server's
# that can be created, before rowrelay comes. contrib_later.sh creates them in a database that has rowrelay.
# shellcheck source-path=SCRIPTDIR
source "$(dirname "$0")/application.sh"

server source ''

# All that are there, but for those that this server would have to load first.
create_extensions() {
  at "$source dbname=$1" >/dev/null <<'SQL'
do $$ declare e record; begin
  for e in select name from pg_available_extensions where installed_version is null
              and name !~ 'timescaledb' /* it would end the session */ order by name loop
    begin
      execute format('create extension if not exists %I schema public cascade', e.name);
    exception when others then
      raise log 'extension %: %', e.name, sqlerrm;
    end;
  end loop;
end $$;
SQL
}
arrange() {
  at "$source dbname=$1" 'create extension citext'
  at "$source dbname=${1}_dw" 'create extension citext'
  if [[ ${when:-before} == before ]]; then create_extensions "$1"; fi
}
settle() { if [[ ${when:-before} == after ]]; then create_extensions "$1"; fi; }

must_capture=(shop.'*')
application_in_sql tests/houses/contrib
ok
