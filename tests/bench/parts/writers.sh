# shellcheck shell=bash disable=SC2034,SC2154 # variables are shared with bench.sh
# writers: what is left of the source's speed while many write.

part_writers() {
  local round mode way ways=(bare native) rows=100000
  heading "Writers: 32 clients, an update of one row in each transaction"
  fresh_databases writers
  for way in bare pgq slony rowrelay native; do
    sql -d "$source_server dbname=writers" -c "select bench.make_table('$way', 1, $rows)" >/dev/null
  done
  sql -d "$target_server dbname=writers" -c "select bench.make_table('native', 1, $rows)" >/dev/null
  if has_pgq; then pgq_trigger writers pgq; ways+=(pgq); fi
  if has_slony; then slony_trigger writers slony; ways+=(slony); fi
  ways+=(captured idle running)
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
}

measure_writers() { # WAY TABLE [DATABASE]
  sample "$1" "synchronous_commit = $mode" "$(commits_per_second "${3:-writers}" "$2" "$rows" "$mode" -c 32 -j 2 -T 2)"
}

writers_bare() { measure_writers bare bare; }
writers_pgq() { measure_writers pgq pgq; }
writers_slony() { measure_writers slony slony; }

writers_native() {
  subscribe writers native
  subscription writers enable
  measure_writers native native
  unsubscribe writers
}

# While a process runs with these options.
writers_with_process() { # WAY DATABASE TABLE OPTION…
  replicate "$2" "${@:4}"
  sleep 1
  measure_writers "$1" "$3" "$2"
  end_replicator
  drain "$2"
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
