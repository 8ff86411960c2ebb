# What every house shares: sourced by the scripts beside it, which say what their neighbour promises its users.
#
# A house has two servers of its own: in `source` lives the application, in `away` whoever gets copies: database mirror is
# rowrelay's, the others are the neighbour's. No superuser works here: shop_owner owns the application's tables, app writes
# to them, relay owns schema rowrelay. SOURCE_BIN and TARGET_BIN name other PostgreSQL servers than the newest.
#
#   house [NAME=VALUE…]      starts both, with settings of the source
#   live                     before init, after init, captured, released and uninstalled: a day's work each, then the script's
#                            check_neighbour WHEN; while captured, the mirror must be equal; in the end the source as it was
#
# A script needs to define no more than check_neighbour. It may define ddl and empty (what a neighbour must be told of an
# ALTER TABLE or TRUNCATE), more_work (further writes of a day), and end_neighbour (what is to be done at the end, however
# it comes). It may set app, where the application writes, and add to tables. Exit status 0 after "ok", 1 after what failed,
# 77 after "skipped: …". VERBOSE=1 prints when each part begins,
# KEEP=DIR keeps what is there when a house has failed.
# shellcheck shell=bash disable=SC2120 # house() and others may be called without arguments
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

top=$PWD
pg=$top/tests/support/pg.sh
bin=$("$pg" bin)
rowrelay=$(realpath "${ROWRELAY_BIN:-build/rowrelay}")
place=/tmp
if [[ -w /dev/shm && $(df -k --output=avail /dev/shm | tail -n 1) -gt 8000000 ]]; then place=/dev/shm; fi
dir=$(mktemp -d $place/house-XXXXXX)
chmod 755 "$dir"
servers=()
running= # the process of rowrelay
moment='at the beginning'

# The servers' user, where root may not run one.
as_owner() { if [[ $(id -u) == 0 ]]; then runuser -u postgres -- "$@"; else "$@"; fi; }

leave() {
  local status=$? server
  trap - EXIT
  [[ -z $running ]] || kill -KILL "$running" 2>/dev/null || true
  if declare -F end_neighbour >/dev/null; then end_neighbour || true; fi
  if [[ $status != 0 && $status != 77 ]]; then
    echo "failed $moment"
    tail -n 20 "$dir"/*.log 2>/dev/null || true
    [[ -z ${KEEP:-} ]] || cp -r "$dir" "$KEEP"
  fi
  for server in "${servers[@]}"; do
    [[ $status == 0 || $status == 77 ]] || { echo "---- log of $server:"; grep -aE 'ERROR|FATAL|PANIC' "$server/log" | tail -n 20; } || true
    "$pg" remove "$server" || true
  done
  rm -rf "$dir"
  exit "$status"
}
trap leave EXIT
trap 'exit 130' INT TERM HUP

fail() { echo "$*"; exit 1; }
skip() { echo "skipped: $*"; exit 77; }
ok() { echo ok; }

# needs FILE PACKAGE: a program or a file that the package brings.
needs() { command -v "$1" >/dev/null || [[ -e $1 ]] || skip "$1 is not installed: apt-get install $2"; }

# server NAME BIN [NAME=VALUE…]: starts one, whose conninfo without a database is then in variable NAME.
server() {
  local conninfo
  conninfo=$(PG_BIN=$2 "$pg" start "$dir/$1" "${@:3}")
  servers+=("$dir/$1")
  printf -v "$1" '%s' "${conninfo% user=*}"
}

# at CONNINFO [SQL…]: as the superuser unless CONNINFO has a user; statements on stdin where none are given.
at() {
  local statement
  local -a commands=()
  for statement in "${@:2}"; do commands+=(-c "$statement"); done
  PGOPTIONS='-c client_min_messages=warning' "$bin/psql" -XAtq -v ON_ERROR_STOP=1 "user=postgres $1" "${commands[@]}"
}

# is WHAT EXPECTED CONNINFO SQL
is() {
  local found
  found=$(at "$3" "$4") || fail "$1: $4 fails"
  [[ $found == "$2" ]] || fail "$1: \"$found\" and not \"$2\""
}

# becomes WHAT EXPECTED CONNINFO SQL: within a minute.
becomes() {
  local found='' end=$((SECONDS + ${PATIENCE:-60}))
  until found=$(at "$3" "$4" 2>&1) && [[ $found == "$2" ]]; do
    ((SECONDS < end)) || fail "$1: after ${PATIENCE:-60} s \"$found\" and not \"$2\""
    sleep 0.1
  done
}

# rows CONNINFO TABLE…: what they have, as one number for each.
rows() {
  local table
  for table in "${@:2}"; do
    at "$1" "select '$table', count(*), coalesce(sum(hashtext(t::text)::int8), 0) from $table t"
  done
}

# same WHAT CONNINFO [TABLE…]: there the application's tables become what they are where it writes.
same() {
  local what=$1 there=$2 expected found='' end=$((SECONDS + ${PATIENCE:-60}))
  shift 2
  [[ $# -gt 0 ]] || set -- "${tables[@]}"
  expected=$(rows "${app% user=app}" "$@")
  until found=$(rows "$there" "$@" 2>&1) && [[ $found == "$expected" ]]; do
    ((SECONDS < end)) || fail "$what: after ${PATIENCE:-60} s$(diff <(echo "$expected") <(echo "$found") | sed 's/^/ /')"
    sleep 0.2
  done
}

# ---- the application ----

tables=(shop.customer shop.orders shop.line shop.basket)

# furnish CONNINFO: the application's schema, without rows.
furnish() {
  at "$1" <<'SQL'
create schema shop authorization shop_owner;
set role shop_owner;
create type shop.state as enum ('new', 'paid', 'sent');
create table shop.customer (id serial primary key, name text not null, email text unique, photo bytea);
create table shop.orders (id int8 generated by default as identity primary key, customer int references shop.customer,
  state shop.state default 'new', total numeric, placed timestamptz default now(), note jsonb);
create table shop.line (orders int8 references shop.orders on delete cascade, number int, item text, tags text[],
  primary key (orders, number));
create table shop.basket (session uuid, item text, amount float8, primary key (session, item));
create function shop.touch() returns trigger language plpgsql as $$
begin update shop.orders set total = coalesce(total, 0) + 1 where id = new.orders; return null; end $$;
create trigger touch after insert on shop.line for each row execute function shop.touch();
grant usage on schema shop to app;
grant select, insert, update, delete, truncate on all tables in schema shop to app;
grant usage on all sequences in schema shop to app;
SQL
}

# What the neighbour must be told of these may be said by the script.
ddl() { at "$shop" "set role shop_owner" "$1"; }
empty() { at "$app" "truncate $1"; }

days=0
lastval=asked # empty where the neighbour's own triggers take it from the application
# Some hundred writes by the application, in transactions of one and of many statements, by two sessions at a time.
day() {
  days=$((days + 1))
  ddl "alter table shop.orders add column extra$days text default 'since day $days'"
  at "$app" <<SQL &
insert into shop.customer (name, email) select 'c' || n, 'c$days.' || n from generate_series(1, 60) as n;
begin;
insert into shop.orders (customer, total, note) select id, id / 7.0, jsonb_build_object('day', $days, 'né', 'ü')
  from shop.customer where email like 'c$days.%';
savepoint a;
insert into shop.line select id, 1, 'tea', '{a,"b c",null}' from shop.orders where note ->> 'day' = '$days';
delete from shop.orders where id % 2 = 0;
rollback to a;
insert into shop.line select id, n, 'item ' || n, array[n::text] from shop.orders, generate_series(1, 2) as n
  where note ->> 'day' = '$days';
commit;
update shop.orders set state = 'paid', extra$days = null where id % 3 = 0;
update shop.line set number = number + 10 where orders % 5 = 0 and number < 10;
delete from shop.line where orders % 7 = 0;
delete from shop.orders where id % 11 = 0;
begin; insert into shop.customer (name) values ('nobody'); rollback;
update shop.customer set photo = decode(repeat('c0ffee', 3000), 'hex') where id % 9 = 0;
SQL
  local one=$!
  if declare -F more_work >/dev/null; then more_work; fi
  at "$app" <<SQL
insert into shop.basket select md5(n::text)::uuid, 'b' || n % 3, n / 3.0 from generate_series(1, 150) as n
  on conflict (session, item) do update set amount = basket.amount + 1;
copy shop.basket from stdin;
00000000-0000-0000-0000-$((100000000000 + days))	one	\\N
00000000-0000-0000-0000-$((100000000000 + days))	two\\twords	-1e10
\\.
SQL
  empty shop.basket
  at "$app" "insert into shop.basket select md5(n::text || $days)::uuid, 'after', n from generate_series(1, 40) as n"
  at "$app" "delete from shop.basket where amount < 5; update shop.basket set item = 'renamed' where amount > 30"
  wait "$one" || fail "the application failed"
  [[ -z $lastval ]] || is "lastval() is the application's" t "$app" "insert into shop.customer (name) values ('last $days');
    select lastval() = id from shop.customer where name = 'last $days'"
}

# ---- rowrelay ----

relay() { "$rowrelay" "$@" >"$dir/said" 2>&1 || { cat "$dir/said"; fail "rowrelay $* failed"; }; }

# Until all is delivered; then both sides are compared.
equal() {
  PATIENCE=60 becomes 'the mirror' 0 "$shop" "select coalesce(sum(backlog), 0) from rowrelay.status"
  is 'refused changes' '' "$shop" "select string_agg(message, '; ') from rowrelay.errors"
  relay verify dw
  same 'the mirror' "$mirror"
}

# What is in the database but for schema rowrelay, as pg_dump writes it, or nothing where the server is newer than that.
schema() {
  "$bin/pg_dump" -s -N rowrelay -d "user=postgres $shop" 2>"$dir/said" | grep -vE '^.(un)?restrict ' ||
    grep -q 'server version mismatch' "$dir/said" || fail "pg_dump fails: $(cat "$dir/said")"
}

run_relay() {
  "$rowrelay" run --workers 2 >>"$dir/run.log" 2>&1 &
  running=$!
}

stop_relay() {
  kill -TERM "$running"
  wait "$running" || fail "rowrelay run ended with $?"
  running=
}

house() {
  server source "${SOURCE_BIN:-}" "$@"
  server away "${TARGET_BIN:-}" wal_retrieve_retry_interval=200ms max_replication_slots=40 max_worker_processes=40 \
    max_logical_replication_workers=30 max_sync_workers_per_subscription=4
  shop="$source dbname=shop" app="$source dbname=shop user=app" mirror="$away dbname=mirror"
  at "$source dbname=postgres" 'create role shop_owner' 'create role app login' 'create role relay login in role shop_owner' \
    'create database shop' 'grant create on database shop to relay'
  at "$away dbname=postgres" 'create role shop_owner' 'create role app login' 'create role relay login' \
    'create database mirror owner relay'
  furnish "$shop"
  at "$app" "insert into shop.customer (name, email) select 'first ' || n, n || '@shop' from generate_series(1, 20) as n"
  export ROWRELAY_TEST_HOUSE=$dir PGHOST=$dir/source PGPORT=5432 PGUSER=relay PGDATABASE=shop
}

move_in() {
  relay target add dw "postgresql://relay@/mirror?host=$dir/away&port=5432"
  relay capture 'shop.*' --to dw --create
  relay backfill 'shop.*' --to dw
}

phase() {
  moment=$1
  [[ -z ${VERBOSE:-} ]] || echo "$SECONDS s: $moment"
  day
  check_neighbour "$moment"
}

live() {
  phase 'before rowrelay came'
  schema >"$dir/before"
  relay init
  schema | diff "$dir/before" - || fail 'init changed the schema'
  phase 'after init'
  move_in
  run_relay
  phase 'while captured'
  equal
  phase 'on the second day'
  equal
  stop_relay
  relay release 'shop.*'
  phase 'after release'
  schema >"$dir/before"
  relay uninstall --force
  schema | diff "$dir/before" - || fail 'uninstall changed the schema'
  phase 'after uninstall'
  is 'what is left at the source' 0 "$shop" "select count(*) from pg_trigger where tgname like '!rowrelay%'"
}
