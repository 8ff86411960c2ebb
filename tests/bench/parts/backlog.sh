# shellcheck shell=bash disable=SC2034,SC2154 # variables are shared with bench.sh
# backlog: how long it takes to begin, with little and with much waiting.

part_backlog() {
  local round first=10000 more=2000000 next=1
  heading "Backlog: starting to deliver when much has piled up"
  fresh_databases backlog
  sql -d "$source_server dbname=backlog" -c "select bench.make_table('item', 0, -1)" >/dev/null
  relay_to_mirror backlog item
  backlog_add 1000
  drain backlog # makes the table there

  for round in 1 2 3; do
    backlog_add $first
    backlog_measure "$(thousands "$first") changes wait"
    drain backlog
  done
  backlog_add $more
  for round in 1 2 3; do
    backlog_measure "$(thousands "$more") changes wait"
  done
  report "milliseconds"
  note "From the start of rowrelay run, two workers, until the first change is visible on the other server, and until" \
    "$(thousands "$first") are. Inserts only; 3 rounds, which take a little of the large backlog each."
}

backlog_add() { # HOW_MANY
  local half=$(($1 / 2)) first second
  sql -d "$source_server dbname=backlog" -c "insert into item select * from bench.make_rows($next, $((next + half - 1)))" & first=$!
  sql -d "$source_server dbname=backlog" -c "insert into item select * from bench.make_rows($((next + half)), $((next + $1 - 1)))" &
  second=$!
  wait $first || fail "the workload failed"
  wait $second || fail "the workload failed"
  next=$((next + $1))
  settle_down
}

backlog_measure() { # VARIANT
  local there since arrived
  sql -d "$target_server dbname=backlog" -c "vacuum analyze item"
  there=$(sql -d "$target_server dbname=backlog" -c "select count(*) from item")
  since=$EPOCHREALTIME
  replicate backlog --workers 2
  for arrived in 1 $first; do
    wait_until "$target_server dbname=backlog" "(select count(*) from item) >= $there + $arrived"
    sample "$1" "$(thousands "$arrived") visible" "$(awk -v s="$(seconds_since "$since")" 'BEGIN { print s * 1000 }')"
  done
  end_replicator
}
