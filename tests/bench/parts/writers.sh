# shellcheck shell=bash disable=SC2034,SC2154 # variables are shared with bench.sh
# writers: what is left of the source's speed while many write.

part_writers() {
  local round mode way ways=(bare native) rows=100000
  heading "Writers: 32 clients, an update of one row in each transaction"
  fresh_databases writers
  for way in bare pgq slony inserts rowrelay native; do
    sql -d "$source_server dbname=writers" -c "select bench.make_table('$way', 1, $rows)" >/dev/null
  done
  sql -d "$target_server dbname=writers" -c "select bench.make_table('native', 1, $rows)" >/dev/null
  if has_pgq; then pgq_trigger writers pgq; ways+=(pgq); fi
  if has_slony; then slony_trigger writers slony; ways+=(slony); fi
  log_inserts writers inserts id
  ways+=(inserts captured idle running)
  relay_to_mirror writers rowrelay
  sql -d "$source_server dbname=writers" -c "select rowrelay.add_target('quiet', 'postgresql:')" >/dev/null
  sql -d "$source_server dbname=writers" -c "update rowrelay set quantity = quantity" # so that the table is there
  drain writers
  if has_native; then
    # a database of its own: where the module is, a running process has it capture all tables
    fresh_databases writers_module
    sql -d "$source_server dbname=writers_module" -c "select bench.make_table('module', 1, $rows)" >/dev/null
    relay_to_mirror writers_module
    relay_natively writers_module module
    sql -d "$source_server dbname=writers_module" -c "select rowrelay.add_target('quiet', 'postgresql:')" >/dev/null
    sql -d "$source_server dbname=writers_module" -c "update module set quantity = quantity"
    drain writers_module
    ways+=(module_captured module_idle module_running)
  fi

  for round in 1 2 3; do
    for mode in off on; do
      for way in "${ways[@]}"; do "writers_$way"; done
    done
  done
  report "" "${title[bare]}" "${title[pgq]}"
  note "$((rows / 1000)),000 rows, 2 seconds in each of 3 rounds. Of PgQ and Slony only the trigger is at work here, as with" \
    "rowrelay when nothing runs. Two workers of rowrelay, and logical replication, deliver to the other server, on the" \
    "same processors. Median (smallest–largest)."
  writers_cost
}

# What keeps the processors busy, so that there are no more commits.
writers_cost() {
  local part=writers_cost round way mode=off
  heading "Writers: what such a commit costs, until it is delivered"
  for round in 1 2 3; do
    for way in "${ways[@]}"; do
      [[ $way == *idle ]] || cost_of "$way"
    done
  done
  report "" "${title[bare]}"
  note "CPU time for each commit of the part before, synchronous_commit = off. Where the sum is S µs, two processors can do" \
    "no more than 2,000,000 / S commits a second without a growing backlog. Median (smallest–largest) of 3 rounds."
}

cost_of() { # WAY
  local sum
  drain writers
  ! has_native || drain writers_module
  begin_cpu
  own_cpu=0
  "writers_$1"
  sample_cpu "$variant" "$written"
  sample "$variant" "of pgbench" "$(us_each 0 "$pgbench_cpu" "$written")"
  sum=$(awk -v a="${cpu_before[0]}" -v b="${cpu_before[1]}" -v c="$(cpu_of source)" -v d="$(cpu_of target)" \
    -v own="$own_cpu" -v pgbench="$pgbench_cpu" 'BEGIN { print c + d - a - b + own + pgbench }')
  sample "$variant" "sum" "$(us_each 0 "$sum" "$written")"
}

measure_writers() { # WAY TABLE [DATABASE]
  local TIMEFORMAT='%U %S' seconds=2 rate
  { time commits_per_second "${3:-writers}" "$2" "$rows" "$mode" -c 32 -j 2 -T $seconds >"$dir/rate"; } 2>"$dir/pgbench_cpu" ||
    fail "pgbench ended with an error: $(tail -n 1 "$dir/pgbench.log")"
  rate=$(<"$dir/rate")
  # cost_of uses them
  variant=$1
  pgbench_cpu=$(awk '{ print $1 + $2 }' "$dir/pgbench_cpu")
  written=$(awk -v r="$rate" -v s=$seconds 'BEGIN { printf "%d", r * s }')
  [[ $part == writers_cost ]] || sample "$1" "synchronous_commit = $mode" "$rate"
}

writers_bare() { measure_writers bare bare; }
writers_pgq() { measure_writers pgq pgq; }
writers_slony() { measure_writers slony slony; }
writers_inserts() { measure_writers inserts inserts; }

writers_native() {
  subscribe writers native
  subscription writers enable
  measure_writers native native
  marks=$((${marks:-0} + 1))
  sql -d "$source_server dbname=writers" -c "update native set note = 'mark $marks' where id = 1"
  wait_until "$target_server dbname=writers" "exists (select from native where note = 'mark $marks')"
  unsubscribe writers
}

# While a process runs with these options.
writers_with_process() { # WAY DATABASE TABLE OPTION…
  local used
  replicate "$2" "${@:4}"
  sleep 1
  measure_writers "$1" "$3" "$2"
  used=$(cpu_of_process "${process[replicator]}") || fail "rowrelay run has ended by itself"
  end_replicator
  drain "$2"
  own_cpu=$(awk -v a="$own_cpu" -v b="$used" 'BEGIN { print a + b }')
}

writers_captured() { measure_writers "rowrelay, nothing runs" rowrelay; }
# Somebody waits for other changes than these.
writers_idle() { writers_with_process "rowrelay, one waits for something else" writers rowrelay --target quiet; }
writers_running() { writers_with_process "rowrelay delivers" writers rowrelay --workers 2; }

writers_module_captured() { measure_writers "server module, nothing runs" module writers_module; }
writers_module_idle() {
  writers_with_process "server module, one waits for something else" writers_module module --target quiet
}
writers_module_running() { writers_with_process "server module, rowrelay delivers" writers_module module --workers 2; }
