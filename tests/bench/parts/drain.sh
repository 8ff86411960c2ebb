# shellcheck shell=bash disable=SC2034,SC2154 # variables are shared with bench.sh
# drain: changes wait on the source, and are brought to the other server.

part_drain() {
  local round name order since
  heading "Drain: $(thousands "$changes") waiting changes to another server"
  for name in rowrelay native; do
    fresh_databases $name
    sql -d "$source_server dbname=$name" -c "select bench.make_table('item', 0, -1)" >/dev/null
  done
  sql -d "$target_server dbname=native" -c "select bench.make_table('item', 1, 200000)" >/dev/null
  sql -d "$source_server dbname=native" -c "insert into item select * from bench.make_rows(1, 200000)"
  relay_to_mirror rowrelay item
  sql -d "$source_server dbname=rowrelay" -c "insert into item select * from bench.make_rows(1, 200000)"
  drain rowrelay # makes the table there

  for round in 1 2 3; do
    if ((round % 2)); then order=(rowrelay native); else order=(native rowrelay); fi
    for name in "${order[@]}"; do "drain_$name"; done
  done
  same_on_both rowrelay item
  same_on_both native item
  report "" "${title[native]}"
  note "70 % updates, 25 % inserts, 5 % deletes of rows with 10 columns, in transactions of 10; 200,000 rows to begin with." \
    "rowrelay: two workers, from the start of run --until-empty to its end. Logical replication: from enabling the" \
    "subscription until the last change is visible. Median (smallest–largest) of 3 alternating rounds."
}

# Two sessions make the changes; settings of theirs do not matter here.
make_changes() { # DATABASE
  local session sessions=()
  for session in 0 1; do
    sql -d "$source_server dbname=$1" -c "set synchronous_commit = off" -c "call bench.work($session, 2, $((changes / 2)), 10)" &
    sessions+=($!)
  done
  for session in "${sessions[@]}"; do wait "$session" || fail "the workload failed"; done
}

drain_rowrelay() {
  local since
  make_changes rowrelay
  settle_down
  begin_cpu
  since=$EPOCHREALTIME
  drain rowrelay
  sample rowrelay "changes/s" "$(per_second "$changes" "$(seconds_since "$since")")"
  sample_cpu rowrelay "$changes"
}

drain_native() {
  local since
  subscribe native item
  make_changes native
  sql -d "$source_server dbname=native" -c "insert into item select (r).* from bench.make_rows(-$round, -$round) as r"
  settle_down
  begin_cpu
  since=$EPOCHREALTIME
  subscription native enable
  wait_until "$target_server dbname=native" "exists (select from item where id = -$round)"
  sample native "changes/s" "$(per_second "$changes" "$(seconds_since "$since")")"
  sample_cpu native "$changes"
  unsubscribe native
}
