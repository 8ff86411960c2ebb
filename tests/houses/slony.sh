#!/usr/bin/env bash
# Slony-I promises that a subscriber node has each row, TRUNCATE and executed script of the origin's set, and that the set can
# move to another node without losing any. Here the source is the origin first and, after the move, a subscriber, whose
# tables Slony's daemon writes.
# shellcheck source-path=SCRIPTDIR
source "$(dirname "$0")/house.sh"

needs slonik slony1-2-bin
needs slon slony1-2-bin
[[ -e $("$bin/pg_config" --pkglibdir)/slony1_funcs.2.2.11.so || -n $(compgen -G "$("$bin/pg_config" --pkglibdir)/slony1_funcs*.so") ]] ||
  skip "Slony's library is not installed: apt-get install postgresql-15-slony1-2"

house
lastval=
copy="$away dbname=copy"
at "$away dbname=postgres" 'create database copy'
furnish "$copy"
daemons=()

end_neighbour() {
  local daemon
  for daemon in "${daemons[@]}"; do kill "$daemon" 2>/dev/null; done
  wait "${daemons[@]}"
}

# slony: a script for the cluster, on stdin.
slony() {
  { cat <<SLONIK && cat; } | slonik >"$dir/said" 2>&1 || fail "slonik fails: $(cat "$dir/said")"
cluster name = house;
node 1 admin conninfo = '$shop user=postgres';
node 2 admin conninfo = '$copy user=postgres';
SLONIK
}

origin=1
# Executed at both nodes, between the same changes.
ddl() {
  echo "$1;" >"$dir/script.sql"
  slony <<<"execute script (filename = '$dir/script.sql', event node = $origin);"
}

check_neighbour() {
  if [[ $origin == 1 ]]; then same 'the subscriber node' "$copy"; else same 'the former origin' "$shop"; fi
}

# The other node becomes the origin: from then on the application writes there.
move_set() { # FROM TO
  slony <<SLONIK
lock set (id = 1, origin = $1);
move set (id = 1, old origin = $1, new origin = $2);
wait for event (origin = $1, confirmed = $2, wait on = $1);
SLONIK
  origin=$2
}

slony <<'SLONIK'
init cluster (id = 1, comment = 'source');
create set (id = 1, origin = 1, comment = 'shop');
set add table (set id = 1, origin = 1, id = 1, fully qualified name = 'shop.customer');
set add table (set id = 1, origin = 1, id = 2, fully qualified name = 'shop.orders');
set add table (set id = 1, origin = 1, id = 3, fully qualified name = 'shop.line');
set add table (set id = 1, origin = 1, id = 4, fully qualified name = 'shop.basket');
set add sequence (set id = 1, origin = 1, id = 1, fully qualified name = 'shop.customer_id_seq');
set add sequence (set id = 1, origin = 1, id = 2, fully qualified name = 'shop.orders_id_seq');
SLONIK
slony <<SLONIK
store node (id = 2, comment = 'copy', event node = 1);
store path (server = 1, client = 2, conninfo = '$shop user=postgres');
store path (server = 2, client = 1, conninfo = '$copy user=postgres');
SLONIK
for node in "$shop" "$copy"; do
  slon -s 200 -t 1000 house "$node user=postgres" >>"$dir/slon.log" 2>&1 &
  daemons+=($!)
done
slony <<'SLONIK'
subscribe set (id = 1, provider = 1, receiver = 2, forward = yes);
wait for event (origin = 1, confirmed = 2, wait on = 1);
SLONIK
becomes 'the subscription' t "$copy" 'select sub_active from _house.sl_subscribe'

live

moment='with the set at the other node'
move_set 1 2
app="$copy user=app"
live
ok
