# shellcheck shell=bash disable=SC2034,SC2154 # variables are shared with bench.sh
# latency: one small transaction at a time, and how soon it is visible on the other server.

part_latency() {
  local round name order
  heading "Latency: from commit to visible on another server, about 40 transactions a second"
  compile visible
  compile bare_relay
  for name in rowrelay relay native; do
    fresh_databases $name
    sql -d "$source_server dbname=$name" -c "select bench.make_table('item', 0, -1)" >/dev/null
  done
  sql -d "$target_server dbname=native" -c "select bench.make_table('item', 1, 1000)" >/dev/null
  sql -d "$target_server dbname=relay" -c "select bench.make_table('item', 0, -1)" >/dev/null
  sql -d "$source_server dbname=native" -c "insert into item select * from bench.make_rows(1, 1000)"
  log_inserts relay item id
  sql -d "$source_server dbname=relay" -c "select bench.notify_inserts('item')" \
    -c "insert into item select * from bench.make_rows(1, 1000)" >/dev/null
  relay_to_mirror rowrelay item
  sql -d "$source_server dbname=rowrelay" -c "insert into item select * from bench.make_rows(1, 1000)"
  drain rowrelay # makes the table there
  settle_down

  for round in 1 2 3; do
    if ((round % 2)); then order=(rowrelay relay native); else order=(native relay rowrelay); fi
    for name in "${order[@]}"; do "latency_$name"; done
  done
  report "" "${title[native]}"
  note "One client updates a row, commits, and asks the other server for it every 0.1 ms until it is there; 200 times in" \
    "each of 3 alternating rounds, at random times. A bare relay has a trigger that inserts two rows and notifies, takes them, pushes and commits, and" \
    "does nothing else (bare_relay.c). Milliseconds: median (smallest–largest) of the rounds."
}

latency_rowrelay() {
  replicate rowrelay --workers 2
  measure_latency rowrelay
  end_replicator
}

latency_relay() {
  "$dir/bare_relay" "$source_server dbname=relay" "$target_server dbname=relay" item 2>"$dir/relay.log" &
  process[relay]=$!
  wait_until "$target_server dbname=relay" "(select count(*) from item) = 1000"
  measure_latency relay
  end relay KILL || true
}

latency_native() {
  subscribe native item
  subscription native enable
  measure_latency native
  unsubscribe native
}

measure_latency() { # DATABASE
  local median high highest
  read -r median high highest < <("$dir/visible" "$source_server dbname=$1" "$target_server dbname=$1" \
    "update item set quantity = quantity + 1 where id = \$1::bigint returning quantity" \
    "select quantity from item where id = \$1::bigint and \$2::bigint is not null" 200 25) ||
    fail "no latency was measured"
  sample "$1" "median" "$median"
  sample "$1" "95 %" "$high"
  sample "$1" "99 %" "$highest"
}
