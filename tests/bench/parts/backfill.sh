# shellcheck shell=bash disable=SC2034,SC2154 # variables are shared with bench.sh
# backfill: rows that were there before are copied into an empty mirror on the other server.

part_backfill() {
  local round name order rows=${ROWS:-1000000}
  heading "Backfill: $(thousands "$rows") rows into an empty mirror on another server"
  fresh_databases backfill
  sql -d "$source_server dbname=backfill" -c "select bench.make_table('item', 1, $rows)" -c "vacuum analyze item" >/dev/null
  sql -d "$target_server dbname=backfill" -c "select bench.make_table('item', 0, -1)" >/dev/null
  relay_to_mirror backfill item

  for round in 1 2 3; do
    if ((round % 2)); then order=(hand copy); else order=(copy hand); fi
    for name in "${order[@]}"; do measure_backfill "$name"; done
  done
  measure_backfill pieces
  report "" "by hand"
  note "Rows with 10 columns, about 230 bytes each; the mirror has its primary key. By hand: COPY TO STDOUT | COPY FROM STDIN" \
    "with psql. As a whole: rowrelay backfill. In pieces: rowrelay backfill --no-copy beside rowrelay run with two workers," \
    "until the last row is there. Median (smallest–largest) of 3 alternating rounds; pieces: one."
}

measure_backfill() { # hand|copy|pieces
  local since
  sql -d "$target_server dbname=backfill" -c "truncate item" -c "vacuum item"
  settle_down
  since=$EPOCHREALTIME
  "backfill_$1"
  sample "$1" seconds "$(seconds_since "$since")"
  same_on_both backfill item
}

title[hand]="by hand" title[copy]="as a whole" title[pieces]="in pieces"

backfill_hand() {
  sql -d "$source_server dbname=backfill" -c "copy item to stdout" | sql -d "$target_server dbname=backfill" -c "copy item from stdin"
}

backfill_copy() {
  "$rowrelay" -d "$source_server dbname=backfill" backfill item --to mirror >"$dir/backfill.log" 2>&1 ||
    fail "rowrelay backfill ended with status $?"
  grep -q "copied to" "$dir/backfill.log" || fail "it was not copied as a whole"
}

backfill_pieces() {
  replicate backfill --workers 2
  "$rowrelay" -d "$source_server dbname=backfill" backfill item --to mirror --no-copy >"$dir/backfill.log" 2>&1 ||
    fail "rowrelay backfill ended with status $?"
  wait_until "$source_server dbname=backfill" "not exists (select from rowrelay.queue)"
  end_replicator
}
