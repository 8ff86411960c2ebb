#!/usr/bin/env bash
# pgBackRest promises that a database comes back as it was at any point in time since a backup, from that and the archived
# WAL, elsewhere or in its place. The mirror is then ahead of the source: nothing is delivered until somebody says that this
# is the source now, and a repair makes both equal again.
# shellcheck source-path=SCRIPTDIR
source "$(dirname "$0")/house.sh"

needs pgbackrest pgbackrest

backup() {
  as_owner pgbackrest --config="$dir/pgbackrest.conf" --stanza=house "$@" >"$dir/said" 2>&1 </dev/null ||
    fail "pgbackrest $*: $(tail -n 20 "$dir/said")"
}

cat >"$dir/pgbackrest.conf" <<CONF
[global]
repo1-path=$dir/backups/repo
log-path=$dir/backups/log
lock-path=$dir/backups/lock
spool-path=$dir/backups/spool
log-level-file=off
log-level-console=warn
compress-type=none
start-fast=y
[house]
pg1-path=$dir/source/data
pg1-socket-path=$dir/source
pg1-user=postgres
CONF
mkdir "$dir/backups"
[[ $(id -u) != 0 ]] || chown postgres "$dir/backups"
house archive_mode=on "archive_command=pgbackrest --config=$dir/pgbackrest.conf --stanza=house archive-push %p"
backup stanza-create
backup backup --type=full

# point NAME: a moment to which the database can go back.
point() {
  at "$shop" "select pg_create_restore_point('$1'), pg_switch_wal()" >"$dir/said"
  rows "$shop" "${tables[@]}" >"$dir/rows.$1"
}

# restore POINT WHERE
restore() {
  backup restore --delta --pg1-path="$dir/$2/data" --type=name --target="$1" --target-action=promote
}

is_as_at() { # POINT CONNINFO
  becomes 'the restored server' f "$2" 'select pg_is_in_recovery()'
  diff "$dir/rows.$1" <(rows "$2" "${tables[@]}") || fail "the database is not as it was at point $1"
}

# The day before yesterday's backup is enough to restore elsewhere what was there today.
check_neighbour() {
  local name=day$days
  [[ $1 != 'while captured' ]] || backup backup --type=incr
  point "$name"
  at "$app" "insert into shop.basket values (md5('later $days')::uuid, 'later', 1)"
  mkdir -p "$dir/restored/data"
  chmod 700 "$dir/restored/data"
  [[ $(id -u) != 0 ]] || chown -R postgres "$dir/restored"
  restore "$name" restored
  PG_BIN=$bin "$pg" start "$dir/restored" "unix_socket_directories=$dir/restored" archive_mode=off >/dev/null
  servers+=("$dir/restored")
  is_as_at "$name" "host=$dir/restored port=5432 dbname=shop"
  if [[ -n $running ]]; then
    ! "$rowrelay" -d "host=$dir/restored user=relay dbname=shop" run --until-empty >"$dir/said" 2>&1 || fail 'a copy delivers'
  fi
  "$pg" remove "$dir/restored"
  unset 'servers[-1]'
}

live

moment='when the source went back to a point in time'
at "$mirror" 'drop schema shop cascade; drop schema rowrelay_target cascade'
relay init
move_in
run_relay
day
equal
point noon
day
equal
"$pg" stop "$dir/source" immediate
restore noon source
"$pg" start "$dir/source" >/dev/null
is_as_at noon "$shop"
! wait "$running" || fail 'the process that ran goes on'
grep -q 'resume --here' "$dir/run.log" || fail 'the process that ran ended for another reason'
running=
ids=$(rows "$mirror" "${tables[@]}")
at "$app" "insert into shop.basket values (md5('afternoon')::uuid, 'afternoon', 1)"
! "$rowrelay" run --until-empty >"$dir/said" 2>&1 || fail 'what was restored delivers'
grep -q 'resume --here' "$dir/said" || fail "$(cat "$dir/said")"
[[ $(rows "$mirror" "${tables[@]}") == "$ids" ]] || fail 'what was restored has delivered'
relay resume --here
run_relay
"$rowrelay" verify dw --repair >"$dir/said" 2>&1 && fail 'verify finds no difference'
becomes 'the mirror' 0 "$shop" 'select coalesce(sum(backlog), 0) from rowrelay.status'
relay verify dw
relay target resume dw
is 'what status notes' '' "$shop" 'select note from rowrelay.status'
stop_relay
relay uninstall --force
ok
