# shellcheck shell=bash disable=SC2034,SC2154 # variables are shared with bench.sh
# verify: how long it takes to compare a table with its mirror, beside copying it.

part_verify() {
  local round rows=1000000 copied_bytes conninfo="$source_server dbname=verify" target="$target_server dbname=verify"
  heading "Verify: comparing a mirror of $(thousands "$rows") rows"
  fresh_databases verify
  sql -d "$conninfo" -c "select bench.make_table('item', 1, $rows)" -c "vacuum analyze item" >/dev/null
  sql -d "$target" -c "select bench.make_table('item', 1, $rows)" -c "create table copied (like item including all)" \
    -c "vacuum analyze item" >/dev/null
  relay_to_mirror verify item
  copied_bytes=$(sql -d "$conninfo" -c "copy item to stdout" | wc -c)
  settle_down

  for round in 1 2 3; do
    verify_copy
    verify_mirror "verify, equal" 0
    sql -d "$target" -c "update item set quantity = quantity + 1 where id = 100000 * $round + 77"
    verify_mirror "verify, 1 row differs" 3
    sql -d "$target" -c "update item set quantity = quantity + 1 where id % 1000 = 7"
    verify_mirror "verify, 1 row of 1,000 differs" 3
    sql -d "$target" -c "truncate item" -c "insert into item select * from bench.make_rows(1, $rows)" -c "vacuum analyze item"
  done
  report "" "COPY out and in"
  note "Rows of 10 columns, about 230 bytes. COPY goes through a pipe into an empty table with its primary key. Received is" \
    "what comes over the wire to verify. Median (smallest–largest) of 3 rounds."
}

verify_copy() {
  local since
  sql -d "$target" -c "truncate copied"
  since=$EPOCHREALTIME
  sql -d "$conninfo" -c "copy item to stdout" | sql -d "$target" -c "copy copied from stdin"
  sample "COPY out and in" seconds "$(seconds_since "$since")"
  sample "COPY out and in" "MB received" "$(per_second "$copied_bytes" 1000000)"
}

verify_mirror() { # VARIANT EXIT_STATUS
  local since status=0 bytes
  since=$EPOCHREALTIME
  "$rowrelay" -d "$conninfo" verify mirror --json >"$dir/verify.json" 2>"$dir/verify.log" || status=$?
  sample "$1" seconds "$(seconds_since "$since")"
  [[ $status == "$2" ]] || fail "rowrelay verify ended with status $status"
  bytes=$(sed 's/.*"bytes_received": \([0-9]*\).*/\1/' "$dir/verify.json")
  sample "$1" "MB received" "$(per_second "$bytes" 1000000)"
}
