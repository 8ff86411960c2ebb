# shellcheck shell=bash disable=SC2034,SC2154 # variables are shared with bench.sh
# soak: the same load for long, which must not let anything grow. SOAK_MINUTES=N minutes instead of 60.

part_soak() {
  local minutes=${SOAK_MINUTES:-60} rate=2000 looks=6 look conninfo="$source_server dbname=soak" pid
  heading "Soak: $(thousands $rate) changes a second for $minutes minutes"
  fresh_databases soak
  sql -d "$conninfo" -c "select bench.make_table('item', 0, -1)" >/dev/null
  relay_to_mirror soak item
  sql -d "$conninfo" -c "insert into item select * from bench.make_rows(1, 100000)"
  drain soak
  replicate soak --workers 2
  pid=${process[replicator]}
  echo '\set id random(1, 100000)
    update item set quantity = quantity + 1, changed_at = now() where id = :id;' >"$dir/soak.pgbench"
  "$bin/pgbench" -n -M prepared -f "$dir/soak.pgbench" -c 4 -R $rate -T $((60 * minutes)) "$conninfo" >"$dir/soak.log" 2>&1 &
  process[writers]=$!
  for ((look = 1; look <= looks; look++)); do
    sleep $((60 * minutes / looks - 2))
    soak_look "after $(date -u -d "@$((60 * minutes * look / looks))" +%H:%M:%S)"
  done
  wait "${process[writers]}" || fail "the workload failed"
  unset "process[writers]"
  wait_until "$conninfo" "(select count(*) = 0 from rowrelay.queue)"
  end_replicator
  same_on_both soak item
  report ""
  note "One process with two workers; four writers, one row in each transaction, of 100,000; the log grows, as it should." \
    "Memory of the process is what is resident, of a writer what its session has of its own." \
    "$(awk '/^tps/ { printf "%.0f", $3 }' "$dir/soak.log") changes a second were written, and both sides are equal."
}

soak_look() { # VARIANT
  local writer
  writer=$(sql -d "$conninfo" \
    -c "select min(pid) from pg_stat_activity where application_name = 'pgbench' and datname = 'soak'")
  sample "$1" "memory, MB" "$(awk '/^VmRSS/ { printf "%.1f", $2 / 1024 }' "/proc/$pid/status")"
  sample "$1" "descriptors" "$(find "/proc/$pid/fd" -mindepth 1 | wc -l)"
  sample "$1" "of a writer, MB" "$(awk '/^RssAnon/ { printf "%.1f", $2 / 1024 }' "/proc/$writer/status")"
  sample "$1" "waiting changes" "$(sql -d "$conninfo" -c "select count(*) from rowrelay.queue")"
  sample "$1" "queue, MB" "$(soak_megabytes "pg_relation_size('rowrelay.queue')")"
  sample "$1" "its index, MB" "$(soak_megabytes "pg_indexes_size('rowrelay.queue')")"
  sample "$1" "log, MB" "$(soak_megabytes "sum(pg_total_relation_size(i.inhrelid)) from pg_inherits i
    where i.inhparent = 'rowrelay.change'::regclass")"
}

soak_megabytes() { sql -d "$conninfo" -c "with sizes(bytes) as (select $1) select round(bytes / 1048576.0, 2) from sizes"; }
