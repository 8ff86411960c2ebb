# shellcheck shell=bash disable=SC2034,SC2154 # variables are shared with bench.sh
# history: asking a log of millions of changes, and what it costs that they are found.

part_history() {
  local total=${CHANGES:-20000000} days=${DAYS:-20} day session sessions since pid round low conninfo="$source_server dbname=history"
  heading "History: a log of $(thousands "$total") changes on $days days, and rows that were changed 20 times"
  fresh_databases history
  sql -d "$conninfo" -f ../../schema/install.sql -f sql/capture.sql -f sql/history.sql \
    -c "select bench.make_table('item', 1, 20000)" -c "select rowrelay.capture_table('item')" \
    -c "select bench.make_days(current_date - $days, $days)" >/dev/null

  say "making the log"
  replicate history
  wait_until "$conninfo" "exists (select from rowrelay.instance)"
  pid=$(sql -d "$conninfo" -c "select pid from pg_stat_activity where application_name = 'rowrelay'
    order by backend_start limit 1")
  for ((day = 1; day <= days; day++)); do
    history_log_day
    sql -d "$conninfo" -c "insert into rowrelay.day (day, closed_at, ends_at, first_id, last_id)
      select d, now(), d + 2, min(c.id), max(c.id) from (select current_date - $days + $day - 1 as d) as d
        join rowrelay.change c on c.day = d group by d
      on conflict (day) do update set closed_at = excluded.closed_at, waits_for = null, ends_at = excluded.ends_at,
        first_id = excluded.first_id, last_id = excluded.last_id" # the process may have looked while it was empty
  done
  since=$EPOCHREALTIME
  wait_until "$conninfo" "(select t.high = rowrelay.last_change_id() and t.indexed_to is null from rowrelay.tick t order by t.id desc limit 1)"
  say "the index was $(seconds_since "$since") s behind"
  history_cpu "$pid" >"$dir/history.cpu"
  end_replicator
  sql -d "$conninfo" -c "update rowrelay.tick set taken_at = current_date - $days + high * ($days * interval '1 day' / $total)" \
    -c "update rowrelay.capture set log_since = current_date - $days" -c "vacuum analyze" -c checkpoint

  history_bytes change >"$dir/history.bytes"

  say "asking"
  history_ask "life of one row" "(random() * ($total / 20 - 1))::bigint" "select * from rowrelay.history_of('item', \$1)"
  history_ask "one row as of a time" "(random() * ($total / 20 - 1))::bigint || ' ' || current_date - (1 + random() * ($days - 2)) * interval '1 day'" \
    "select * from rowrelay.row_as_of(null::item, split_part(\$1, ' ', 1), substr(\$1, strpos(\$1, ' '))::timestamptz)"
  history_ask "one transaction" "(select c.txid from (select 1 + (random() * ($total - 1))::bigint + 0 * n as id offset 0) as r join rowrelay.change c using (id))" \
    "select * from rowrelay.transaction(\$1::xid8)"
  for round in 1 2 3; do
    history_drop "$round"
  done
  report "milliseconds"
  note "Asked 100 times, of random rows, times and transactions, in one session after ten that do not count. A day has" \
    "$(thousands $((total / days))) changes. Median (smallest–largest)."

  history_next_table
  say "writing meanwhile"
  for round in {1..5}; do
    history_write "nobody ticks"
    replicate history
    history_write "a process ticks"
    end_replicator
  done
  report "" "nobody ticks"
  note "One client, one row in each transaction, synchronous_commit = off. The process's session at the source took" \
    "$(cat "$dir/history.cpu") µs of processor time for each change that it indexed, besides the writers. The index took" \
    "$(history_bytes change_key) bytes for each change, the log $(cat "$dir/history.bytes")."
}

history_log_day() { # two sessions at a time
  local first=$(((day - 1) * total / days + 1)) last=$((day * total / days)) middle one
  middle=$(((first + last) / 2 / 5 * 5))
  sql -d "$conninfo" -c "set synchronous_commit = off" \
    -c "call bench.log_changes(current_date - $days, $days, $total, $first, $middle)" & one=$!
  sql -d "$conninfo" -c "set synchronous_commit = off" \
    -c "call bench.log_changes(current_date - $days, $days, $total, $((middle + 1)), $last)" || fail "the log was not made"
  wait $one || fail "the log was not made"
}

# µs of processor time that a server process has used, for each change
history_cpu() { awk -v tick="$(getconf CLK_TCK)" -v n="$total" '{ sub(/.*\) /, ""); printf "%.1f", ($12 + $13) / tick * 1e6 / n }' "/proc/$1/stat"; }

history_ask() { # VARIANT ARGUMENT QUERY
  local ms
  sql -d "$conninfo" -c "select setseed(0.5)" \
    -c "with arguments as materialized (select array_agg(($2)::text) as list from generate_series(1, 110) as n)
        select t.ms from arguments, bench.time_queries(\$\$$3\$\$, list) with ordinality as t(ms, n) where t.n > 10" |
    sed 1d >"$dir/history.ms"
  while read -r ms; do sample "$1" "ms" "$ms"; done <"$dir/history.ms"
}

history_drop() { # the oldest day that is left
  sample "dropping a day" "ms" "$(sql -d "$conninfo" -c "select bench.time_queries('select * from
    rowrelay.prune(now() - (current_date - $days + $1 + 1)::timestamptz, most => 1) where \$1 is not null', '{1}')")"
  [[ $(sql -d "$conninfo" -c "select count(*) from rowrelay.change where day = current_date - $days + $1 - 1") == 0 ]] || fail "the day is still there"
}

history_write() { # VARIANT
  sample "$1" "commits/s" "$(commits_per_second history item 20000 off -c 1 -T 5)"
}

history_next_table() {
  : >"$dir/$part.samples"
  echo | tee -a "$dir/summary.md"
}

# Bytes for each change of a partitioned table of schema rowrelay.
history_bytes() {
  sql -d "$conninfo" -c "select (sum(pg_total_relation_size(i.inhrelid)) / $total)::integer from pg_inherits i
    where i.inhparent = 'rowrelay.$1'::regclass"
}
