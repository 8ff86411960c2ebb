#!/usr/bin/env bash
# Bucardo promises that databases of one sync come to have the same rows, whichever of them is written: it notes keys by
# triggers and copies the rows as they are, by deleting and inserting them. Here the source is one of two such databases.
# shellcheck source-path=SCRIPTDIR
source "$(dirname "$0")/house.sh"

needs bucardo bucardo
[[ -e $("$bin/pg_config" --sharedir)/extension/plperlu.control ]] ||
  skip "PL/Perl is not installed: apt-get install postgresql-plperl-15"

pids=/tmp/house-bucardo-$$ # which Bucardo turns into lower case
house
copy="$away dbname=copy"
at "$away dbname=postgres" 'create database copy'
furnish "$copy"

sync() {
  local PGHOST=$dir/away PGUSER=postgres PGDATABASE=bucardo
  (cd "$dir" && HOME=$dir bucardo --no-bucardorc --dbhost "$dir/away" --dbname bucardo --dbuser postgres --quiet "$@") \
    >"$dir/said" 2>&1 </dev/null || fail "bucardo $*: $(cat "$dir/said")"
}

end_neighbour() {
  local pid
  (cd "$dir" && HOME=$dir bucardo --no-bucardorc --dbhost "$dir/away" --dbuser postgres stop) >/dev/null 2>&1 </dev/null
  for pid in $(head -qn 1 "$pids"/*.pid 2>/dev/null); do
    for ((i = 0; i < 50; i++)); do kill -0 "$pid" 2>/dev/null || break; sleep 0.1; done
    kill -KILL "$pid" 2>/dev/null
  done
  rm -rf "$pids"
}

# Bucardo knows the columns that it found when it began.
ddl() {
  at "$copy" "set role shop_owner" "$1"
  at "$shop" "set role shop_owner" "$1"
  sync reload both
}

# Nothing is written at the other one: Bucardo at times leaves behind what is written while it reloads, also without rowrelay.
check_neighbour() {
  sync kick both
  same 'the other database' "$copy"
}

mkdir "$pids"
(cd "$dir" && bucardo --no-bucardorc install --batch --dbhost "$dir/away" --dbname postgres --dbuser postgres --pid-dir "$pids") \
  >"$dir/said" 2>&1 || fail "bucardo install: $(cat "$dir/said")"
sync add db here dbname=shop host="$dir/source" user=postgres
sync add db there dbname=copy host="$dir/away" user=postgres
sync add table "${tables[@]}" db=here relgroup=shop
sync add sync both relgroup=shop dbs=here:source,there:source conflict_strategy=bucardo_latest
sync set reason_file="$pids/reason"
sync start --log-destination "$dir"
at "$app" 'update shop.customer set name = name'
same 'the other database' "$copy"

live
ok
