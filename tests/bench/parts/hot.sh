# shellcheck shell=bash disable=SC2034,SC2154 # variables are shared with bench.sh
# hot: the same as drain, where few rows are changed again and again.

hot_rows=2000

part_hot() {
  local round name order
  hot_times=$((changes / 5 / hot_rows))
  heading "Hot rows: $(thousands $((hot_times * hot_rows))) waiting changes of $(thousands $hot_rows) rows"
  for name in rowrelay native; do
    fresh_databases $name
    sql -d "$source_server dbname=$name" -c "select bench.make_table('item', 0, -1)" >/dev/null
  done
  sql -d "$target_server dbname=native" -c "select bench.make_table('item', 1, $hot_rows)" >/dev/null
  sql -d "$source_server dbname=native" -c "insert into item select * from bench.make_rows(1, $hot_rows)"
  relay_to_mirror rowrelay item
  sql -d "$source_server dbname=rowrelay" -c "insert into item select * from bench.make_rows(1, $hot_rows)"
  drain rowrelay # makes the table there

  for round in 1 2 3; do
    if ((round % 2)); then order=(rowrelay native); else order=(native rowrelay); fi
    for name in "${order[@]}"; do "hot_$name"; done
  done
  same_on_both rowrelay item
  same_on_both native item
  report "" "${title[native]}"
  note "Each transaction changes all of the rows once. Measured as the part before."
}

change_all() { # DATABASE
  local n
  for ((n = 0; n < hot_times; n++)); do
    echo "update item set quantity = quantity + 1;"
  done | sql -d "$source_server dbname=$1"
}

hot_rowrelay() {
  local since
  change_all rowrelay
  settle_down
  begin_cpu
  since=$EPOCHREALTIME
  drain rowrelay
  sample rowrelay "changes/s" "$(per_second $((hot_times * hot_rows)) "$(seconds_since "$since")")"
  sample_cpu rowrelay $((hot_times * hot_rows))
}

hot_native() {
  local since
  subscribe native item
  change_all native
  sql -d "$source_server dbname=native" -c "insert into item select (r).* from bench.make_rows(-$round, -$round) as r"
  settle_down
  begin_cpu
  since=$EPOCHREALTIME
  subscription native enable
  wait_until "$target_server dbname=native" "exists (select from item where id = -$round)"
  sample native "changes/s" "$(per_second $((hot_times * hot_rows)) "$(seconds_since "$since")")"
  sample_cpu native $((hot_times * hot_rows))
  unsubscribe native
}
