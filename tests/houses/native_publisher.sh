#!/usr/bin/env bash
# Native logical replication promises that a subscriber gets each row and TRUNCATE that is committed at its publisher. Here
# it reads the application's tables by publications of a list of tables, of the schema, and FOR ALL TABLES, with generated
# columns (18) and exceptions (19), with which init stops until the printed steps are taken.
# shellcheck source-path=SCRIPTDIR
source "$(dirname "$0")/house.sh"

copies=() alterations=()
house max_replication_slots=40 max_wal_senders=40
version=$(at "$shop" "select current_setting('server_version_num')::int / 10000")

# New columns are made at subscribers first.
ddl() {
  local copy
  alterations+=("$1")
  for copy in "${copies[@]}"; do at "$away dbname=$copy" "$1"; done
  at "$shop" "set role shop_owner" "$1"
}

# subscribe NAME WHAT: a database that gets what the publication of that name contains.
subscribe() {
  at "$away dbname=postgres" "create database $1"
  furnish "$away dbname=$1"
  furnish_more "$away dbname=$1"
  [[ ${#alterations[@]} == 0 ]] || at "$away dbname=$1" "${alterations[@]}"
  at "$shop" "create publication $1 for $2$published"
  at "$away dbname=$1" "create subscription $1 connection '$shop user=postgres' publication $1"
  copies+=("$1")
}

# Without a key, with partitions, and, where that is published, with a generated column, which is a plain one elsewhere.
furnish_more() {
  at "$1" 'set role shop_owner' 'create table shop.journal (at timestamptz, what text)' \
    'alter table shop.journal replica identity full' \
    'create table shop.visit (day date, id int, page text, primary key (day, id)) partition by range (day)' \
    "create table shop.visit_1 partition of shop.visit for values from ('2026-01-01') to ('2026-02-01')" \
    "create table shop.visit_2 partition of shop.visit for values from ('2026-02-01') to ('2026-03-01')" \
    'create table shop.price (id int primary key, net numeric, gross numeric)' \
    'grant all on all tables in schema shop to app'
}
tables+=(shop.journal shop.visit)
published=
if ((version >= 18)); then
  tables+=(shop.price)
  published=' with (publish_generated_columns = stored)'
fi

more_work() {
  at "$app" <<SQL
insert into shop.journal select '2026-01-01', 'n' || n % 3 from generate_series(1, 20) as n;
update shop.journal set what = 'x' where what = 'n1';
delete from shop.journal where what = 'n2';
insert into shop.visit select date '2026-01-20' + n, $days, 'p' from generate_series(1, 20) as n;
update shop.visit set day = day + 20 where day between '2026-01-25' and '2026-01-30' and id = $days;
truncate shop.visit_2;
insert into shop.visit values ('2026-02-02', -$days, 'q');
insert into shop.price (id, net) values ($days, 10);
SQL
}

check_neighbour() {
  local copy
  for copy in "${copies[@]}"; do same "the subscriber of publication $copy" "$away dbname=$copy"; done
}

furnish_more "$shop"
if ((version >= 18)); then
  at "$shop" 'alter table shop.price drop column gross' \
    'alter table shop.price add column gross numeric generated always as (net * 2) stored'
fi
at "$shop" 'create schema side' 'create table side.private (id int primary key)'
if ((version >= 19)); then
  subscribe everything 'all tables except (table side.private)'
else
  at "$shop" 'drop schema side cascade'
  subscribe everything 'all tables'
fi
moment='with a publication of all tables'
day
check_neighbour
! "$rowrelay" init >"$dir/said" 2>&1 || fail "init makes tables that publication everything contains"
at "$shop" "$(grep -o '1\. here: [^;]*' "$dir/said" | cut -c10-)"
became=$(at "$shop" "select pg_current_wal_lsn()")
becomes 'the slot' t "$shop" "select confirmed_flush_lsn >= '$became' from pg_replication_slots where slot_name = 'everything'"
at "$away dbname=everything" "$(sed -nE 's/.*3\. at each subscriber: ([^;]*);.*/\1/p' "$dir/said" | sed 's/ NAME / everything /')"
at "$shop" "$(grep -o '4\. here: [^.]*' "$dir/said" | cut -c10-)"
((version < 19)) || at "$shop" 'insert into side.private values (1)'

subscribe listed 'table shop.customer, shop.orders, shop.line, shop.basket, shop.journal, shop.visit, shop.price'
((version < 15)) || subscribe by_schema 'tables in schema shop'
live
ok
