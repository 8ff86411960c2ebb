# shellcheck shell=bash disable=SC2034,SC2154 # variables are shared with bench.sh
# tpcb: the transactions of pgbench, with all four of its tables captured, and how fast they then arrive.

tpcb_seconds=8

part_tpcb() {
  local round name order
  heading "TPC-B: pgbench, four clients, all four tables captured"
  for name in bare inserts rowrelay native; do
    fresh_databases $name
    "$bin/pgbench" --quiet -i -s 20 "$source_server dbname=$name" 2>/dev/null
    sql -d "$source_server dbname=$name" -c "alter table pgbench_history add id bigserial primary key"
  done
  log_inserts inserts pgbench_accounts aid
  log_inserts inserts pgbench_branches bid
  log_inserts inserts pgbench_tellers tid
  log_inserts inserts pgbench_history id
  relay_to_mirror rowrelay pgbench_accounts pgbench_branches pgbench_history pgbench_tellers
  "$rowrelay" -d "$source_server dbname=rowrelay" backfill 'pgbench_*' --to mirror >/dev/null 2>&1 || fail "the backfill failed"
  "$bin/pg_dump" -t 'pgbench_*' "$source_server dbname=native" | sql -d "$target_server dbname=native" >/dev/null

  for round in 1 2 3; do
    if ((round % 2)); then order=(bare inserts rowrelay native); else order=(native rowrelay inserts bare); fi
    for name in "${order[@]}"; do "tpcb_$name"; done
  done
  for name in accounts branches history tellers; do
    same_on_both rowrelay "pgbench_$name"
  done
  report "" "${title[native]}" "${title[bare]}"
  note "Scale 20, $tpcb_seconds s, with nothing that delivers; then a drain by two workers, or until the subscriber has the last" \
    "row. synchronous_commit = on. Median (smallest–largest) of 3 alternating rounds."
}

run_pgbench() { # DATABASE
  local tps
  settle_down
  tps=$("$bin/pgbench" -n -c 4 -j 2 -T $tpcb_seconds "$source_server dbname=$1" 2>/dev/null | awk '/^tps/ { print $3 }')
  tpcb_changes=$(awk -v tps="$tps" -v s=$tpcb_seconds 'BEGIN { printf "%d", 4 * tps * s }')
  sample "$1" "transactions/s" "$tps"
}

tpcb_bare() { run_pgbench bare; }
tpcb_inserts() { run_pgbench inserts; }

tpcb_rowrelay() {
  local since
  run_pgbench rowrelay
  begin_cpu
  since=$EPOCHREALTIME
  drain rowrelay
  sample rowrelay "then changes/s" "$(per_second "$tpcb_changes" "$(seconds_since "$since")")"
  sample_cpu rowrelay "$tpcb_changes"
}

tpcb_native() {
  local since
  subscribe native pgbench_accounts pgbench_branches pgbench_history pgbench_tellers
  run_pgbench native
  sql -d "$source_server dbname=native" -c "update pgbench_branches set filler = 'last $round' where bid = 1"
  begin_cpu
  since=$EPOCHREALTIME
  subscription native enable
  wait_until "$target_server dbname=native" "exists (select from pgbench_branches where filler = 'last $round')"
  sample native "then changes/s" "$(per_second "$tpcb_changes" "$(seconds_since "$since")")"
  sample_cpu native "$tpcb_changes"
  unsubscribe native
}
