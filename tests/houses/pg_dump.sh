#!/usr/bin/env bash
# pg_dump promises each owner a dump of what it owns that restores to the same rows, of a table, a schema or a database,
# while it is in use; pg_dumpall promises the same of a server. Exception that rowrelay makes: a role that may not read the
# log dumps a whole database with --exclude-schema=rowrelay.
# shellcheck source-path=SCRIPTDIR
source "$(dirname "$0")/house.sh"

house wal_level=replica
at "$source dbname=postgres" 'alter role shop_owner login'
"$bin/pg_dump" -s -d "user=postgres $shop" -t shop.basket >"$dir/said" 2>&1 || skip "$(tail -n 1 "$dir/said")"
owner="$source user=shop_owner dbname=shop"

# fresh: a database to restore into.
fresh() {
  at "$away dbname=postgres" 'drop database if exists restored' 'create database restored owner shop_owner'
}

# dump OPTION…: by the owner of the application's tables.
dump() { "$bin/pg_dump" -d "$owner" -f "$dir/dump" "$@" 2>"$dir/said" || fail "pg_dump $*: $(cat "$dir/said")"; }

# restore HOW OPTION…: all of the dump, with as many errors as are expected.
restore() {
  fresh
  "$bin/pg_restore" -d "user=postgres $away dbname=restored" "$@" "$dir/dump" >"$dir/said" 2>&1 || fail "$(cat "$dir/said")"
}

# As deploy/NEIGHBOURS.md says: a dump of captured tables has their triggers, whose functions are not in it.
restore_without_triggers() {
  "$bin/pg_restore" -l "$dir/dump" | grep -v '!rowrelay' >"$dir/list"
  restore --exit-on-error -L "$dir/list"
}

check_neighbour() {
  local without=()
  [[ -z $(at "$shop" "select 1 from pg_namespace where nspname = 'rowrelay'") ]] || without=(--exclude-schema=rowrelay)
  dump -Fc "${without[@]}"
  restore_without_triggers
  same 'a dump of the database' "$away dbname=restored"
  dump -Fc -n shop
  restore_without_triggers
  same 'a dump of the schema' "$away dbname=restored"
  dump -Fc -t shop.basket
  fresh
  at "$away dbname=restored" 'create schema shop'
  "$bin/pg_restore" -l "$dir/dump" | grep -v '!rowrelay' >"$dir/list"
  "$bin/pg_restore" -d "user=postgres $away dbname=restored" --exit-on-error -L "$dir/list" "$dir/dump"
  same 'a dump of a table' "$away dbname=restored" shop.basket

  # Without the list everything else is restored, with errors for the triggers.
  dump -Fp -n shop
  fresh
  "$bin/psql" -Xq -f "$dir/dump" -d "user=postgres $away dbname=restored" >"$dir/said" 2>&1
  if grep 'ERROR:' "$dir/said" | grep -vE 'schema "rowrelay" does not exist|trigger "!rowrelay'; then fail 'an error of a plain dump'; fi
  same 'a plain dump of the schema' "$away dbname=restored"

  # Rows alone, over the rows that are there.
  dump -Fc --data-only -n shop
  at "$away dbname=restored" 'truncate shop.customer, shop.orders, shop.line, shop.basket'
  "$bin/pg_restore" -d "user=postgres $away dbname=restored" --exit-on-error --disable-triggers "$dir/dump"
  same 'a dump of rows' "$away dbname=restored"

  dump -Fd -j 2 -n shop -f "$dir/folder$days"
  if [[ $1 == 'on the second day' ]]; then dump_all; fi
}

# The server as a whole, restored elsewhere: the same rows; and rowrelay there captures, but delivers nothing.
dump_all() {
  "$bin/pg_dumpall" -d "user=postgres dbname=postgres $source" >"$dir/all" || fail 'pg_dumpall fails'
  server third "${SOURCE_BIN:-}"
  # shellcheck disable=SC2154 # server() sets it
  "$bin/psql" -Xq -d "user=postgres dbname=postgres $third" -f "$dir/all" >"$dir/said" 2>&1
  if grep 'ERROR:' "$dir/said" | grep -v 'role "postgres" already exists'; then fail 'an error of pg_dumpall'; fi
  same 'a dump of all' "$third dbname=shop"
  at "$third dbname=shop user=app" "insert into shop.basket values (md5('copy')::uuid, 'of the copy', 1)"
  ! "$rowrelay" -d "$third dbname=shop user=relay" run --until-empty >"$dir/said" 2>&1 || fail 'a copy delivers'
  is 'the mirror' 0 "$mirror" "select count(*) from shop.basket where item = 'of the copy'"
  "$rowrelay" -d "$third dbname=shop user=relay" uninstall --force >"$dir/said" || fail 'a copy cannot be uninstalled'
  "$pg" stop "$dir/third"
}

live
ok
