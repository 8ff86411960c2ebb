#!/usr/bin/env bash
# Native logical replication promises that a subscriber has, and its triggers see, each row and TRUNCATE that its publisher
# committed: large transactions that are streamed (applied in parallel since PostgreSQL 16), prepared ones, and the first
# copy of a table, too. Here rowrelay captures what the subscriber gets, while the application writes to the publisher.
# shellcheck source-path=SCRIPTDIR
source "$(dirname "$0")/house.sh"

house max_prepared_transactions=10 wal_retrieve_retry_interval=200ms max_worker_processes=30 max_logical_replication_workers=20
# shellcheck disable=SC2154 # house.sh sets it
publisher="$away dbname=publisher"
app="$publisher user=app"
version=$(at "$shop" "select current_setting('server_version_num')::int / 10000")
there=$(at "$mirror" "select current_setting('server_version_num')::int / 10000")
at "$shop" 'delete from shop.customer'
"$pg" stop "$dir/away"
"$pg" start "$dir/away" max_prepared_transactions=10 logical_decoding_work_mem=64kB >/dev/null
at "$away dbname=postgres" 'create database publisher'
furnish "$publisher"

streaming=off two_phase=
((version < 14 || there < 14)) || streaming=on
((version < 16 || there < 16)) || streaming=parallel
((version < 15 || there < 15)) || two_phase=', two_phase = true'

ddl() { at "$shop" "set role shop_owner" "$1"; at "$publisher" "set role shop_owner" "$1"; }

# Two subscriptions, as for tables of different weight.
subscribe() {
  at "$publisher" "create publication $1 for table $2"
  at "$shop" "create subscription $1 connection '$publisher user=postgres' publication $1 with ($3)"
}

# A large transaction, a large one that is rolled back, and, where that is decoded, one in two phases.
more_work() {
  at "$app" "insert into shop.basket select md5('large' || n || '.$days')::uuid, 'large', n from generate_series(1, 3000) as n"
  at "$app" 'begin' "insert into shop.basket select md5('never' || n)::uuid, 'never', n from generate_series(1, 3000) as n" \
    'savepoint a' 'update shop.basket set amount = 0' 'rollback'
  at "$app" <<SQL
begin;
insert into shop.basket select md5('two' || n || '.$days')::uuid, 'two', n from generate_series(1, 3000) as n;
prepare transaction 'two';
commit prepared 'two';
begin;
insert into shop.basket select md5('parts' || n || '.$days')::uuid, 'parts', n from generate_series(1, 3000) as n;
savepoint a;
delete from shop.basket where item = 'parts' and amount > 1000;
rollback to a;
update shop.basket set amount = -1 where item = 'parts' and amount < 2000;
commit;
SQL
}

# The subscription is without its publisher for a while, too.
check_neighbour() {
  same 'the subscriber' "$shop"
  at "$shop" 'alter subscription heavy disable'
  at "$app" "insert into shop.basket values (md5('behind $days')::uuid, 'behind', 1)"
  at "$shop" 'alter subscription heavy enable'
  same 'the subscriber, when it went on' "$shop"
}

subscribe light 'shop.customer, shop.orders, shop.line' 'binary = true'
subscribe heavy 'shop.basket' "streaming = $streaming$two_phase"
live

# Captured while it is filled by a new subscription.
moment='at a first copy'
at "$shop" 'drop subscription heavy' 'drop subscription light'
at "$mirror" 'drop schema shop cascade'
at "$shop" 'truncate shop.basket, shop.customer, shop.orders, shop.line'
relay init
relay target add dw "postgresql://relay@/mirror?host=$dir/away&port=5432"
relay capture 'shop.*' --to dw --create
run_relay
at "$shop" "create subscription light connection '$publisher user=postgres' publication light, heavy"
same 'the subscriber' "$shop"
equal
stop_relay
at "$shop" 'drop subscription light'
ok
