#!/usr/bin/env bash
# pglogical promises that a subscriber has each row, TRUNCATE and replicated command of its provider's sets. Here the source is
# the provider; then, with TRUNCATE left out as doctor says, the subscriber, whose tables pglogical's worker writes.
# shellcheck source-path=SCRIPTDIR
source "$(dirname "$0")/house.sh"

[[ -e $("$bin/pg_config" --sharedir)/extension/pglogical.control ]] ||
  skip "pglogical is not installed: apt-get install postgresql-15-pglogical"

house output_plugin_libraries=pglogical_output shared_preload_libraries=pglogical track_commit_timestamp=on max_worker_processes=30
"$pg" stop "$dir/away"
"$pg" start "$dir/away" output_plugin_libraries=pglogical_output shared_preload_libraries=pglogical track_commit_timestamp=on >/dev/null
copy="$away dbname=copy"
at "$away dbname=postgres" 'create database copy'
furnish "$copy"

# replicate FROM TO: until the other side has all rows.
replicate() {
  at "$1" "select pglogical.replication_set_add_all_tables('default', '{shop}')" >"$dir/said"
  at "$2" "select pglogical.create_subscription('copy', '$1 user=postgres', '{default,ddl_sql}')" >"$dir/said"
  becomes 'the subscription' t "$2" "select bool_and(sync_status = 'r') from pglogical.local_sync_status"
}

provider=$shop
# Sent between the same changes.
ddl() { at "$provider" "select pglogical.replicate_ddl_command(\$ddl\$$1; alter table shop.orders owner to shop_owner\$ddl\$)" >"$dir/said"; }

# Its trigger for TRUNCATE asks for more than an application has.
empty() { at "$provider" "truncate $1"; }

check_neighbour() {
  if [[ $provider == "$shop" ]]; then same 'the subscriber' "$copy"; else same 'the subscriber' "$shop"; fi
}

for node in "$shop" "$copy"; do
  at "$node" 'create extension pglogical' "select pglogical.create_node('${node##*=}', '$node user=postgres')" >"$dir/said"
done
# Its event trigger lets no role without this drop anything.
! at "$shop user=relay" 'create schema mine' 'create table mine.thing ()' 'drop schema mine cascade' 2>"$dir/said" ||
  fail 'pglogical lets any role drop what it owns'
at "$shop" 'grant usage on schema pglogical to relay' 'grant select on all tables in schema pglogical to relay'
at "$shop user=relay" 'drop schema mine cascade'
replicate "$shop" "$copy"
live

moment='as a subscriber'
at "$copy" "select pglogical.drop_subscription('copy')" >"$dir/said"
at "$mirror" 'drop schema shop cascade; drop schema rowrelay_target cascade'
for node in "$shop" "$copy"; do at "$node" 'truncate shop.customer, shop.orders, shop.line, shop.basket'; done
provider=$copy app="$copy user=app"
replicate "$copy" "$shop"
at "$copy" "select pglogical.alter_replication_set('default', replicate_truncate := false)" >"$dir/said"
empty() { at "$app" "delete from $1"; }
live
ok
