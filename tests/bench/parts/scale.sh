# shellcheck shell=bash disable=SC2034,SC2154 # variables are shared with bench.sh
# scale: many targets, many processes, much waiting, one huge transaction, a huge row: what a process takes for it.

part_scale() {
  local waiting=$((20 * changes)) conninfo="$source_server dbname=scale"
  heading "Scale: what a process takes for much of everything"
  scale_targets
  fresh_databases scale
  sql -d "$conninfo" -c "select bench.make_table('item', 0, -1)" >/dev/null
  relay_to_mirror scale item
  scale_drained "a change" 1 "insert into item select * from bench.make_rows(0, 0)" 1
  scale_drained "a transaction of $(thousands $((waiting / 2))) changes" $((waiting / 2)) \
    "insert into item select * from bench.make_rows(1, $((waiting / 2)))" 1
  scale_drained "$(thousands "$waiting") changes in transactions of $(thousands $((waiting / 20)))" "$waiting" \
    "do \$\$ begin for n in 0 .. 19 loop update item set quantity = quantity + 1
       where id between n % 10 * $((waiting / 20)) + 1 and (n % 10 + 1) * $((waiting / 20)); commit; end loop; end \$\$" 1
  scale_drained "$(thousands $((waiting / 10))) changes, 16 processes" $((waiting / 10)) \
    "update item set quantity = quantity + 1 where id <= $((waiting / 10))" 16
  same_on_both scale item
  sql -d "$conninfo" -c "create table large (id int primary key, v text)" -c "select rowrelay.capture_table('large')" \
    -c "select rowrelay.route('large', 'mirror', create_table => true)" >/dev/null
  scale_drained "a row of 200 MB" 1 "insert into large select 1, repeat('abcdefghij', 20000000)" 1
  same_on_both scale large
  report ""
  note "Memory is the most that a process had resident (of 16, the largest), two workers each, and batch_bytes as it is by" \
    "default. The queue is measured after all was delivered and the queue was vacuumed once."
}

# Nothing is written meanwhile.
scale_targets() {
  local targets=100 n pid before idle=20 conninfo="$source_server dbname=scale"
  fresh_databases scale
  sql -d "$conninfo" -c "create table item (id int primary key)" -f ../../schema/install.sql \
    -c "select rowrelay.capture_table('item')" >/dev/null
  for ((n = 1; n <= targets; n++)); do
    echo "select rowrelay.add_target('t$n', 'file:$dir/t$n'), rowrelay.route('item', 't$n');"
  done | sql -d "$conninfo" >/dev/null
  replicate scale --workers 1
  pid=${process[replicator]}
  sql -d "$conninfo" -c "insert into item values (1)"
  wait_until "$conninfo" "(select count(*) = 0 from rowrelay.queue)"
  sleep 15 # until all have looked once
  before=$(scale_ticks "$pid")
  sleep $idle
  sample "$targets targets, nothing to do" "CPU, % of a core" \
    "$(per_second $((100 * ($(scale_ticks "$pid") - before))) $((idle * $(getconf CLK_TCK))))"
  sample "$targets targets, nothing to do" "memory, MB" "$(scale_peak "$pid")"
  sample "$targets targets, nothing to do" "descriptors" "$(find "/proc/$pid/fd" -mindepth 1 | wc -l)"
  end_replicator
}

scale_ticks() { sed 's/.*) //' "/proc/$1/stat" | awk '{ print $12 + $13 }'; }              # PID
scale_peak() { awk '/^VmHWM/ { printf "%.0f", $2 / 1024 }' "/proc/$1/status" 2>/dev/null; } # PID

# Writes, and has processes deliver that until nothing is left.
scale_drained() { # VARIANT CHANGES STATEMENT PROCESSES
  local since n pid seen peak=0 descriptors=0 names=()
  sql -d "$conninfo" -c "$3"
  settle_down
  since=$EPOCHREALTIME
  for ((n = 1; n <= $4; n++)); do
    "$rowrelay" -d "$conninfo" run --workers 2 --until-empty >"$dir/run.$n.log" 2>&1 &
    process[drain$n]=$!
    names+=("drain$n")
  done
  while jobs -r | grep -q .; do
    for n in "${names[@]}"; do
      pid=${process[$n]}
      seen=$(scale_peak "$pid" || true)
      ((${seen:-0} <= peak)) || peak=$seen
      seen=$(find "/proc/$pid/fd" -mindepth 1 2>/dev/null | wc -l || true)
      ((seen <= descriptors)) || descriptors=$seen
    done
    sleep 0.1
  done
  for n in "${names[@]}"; do
    pid=${process[$n]}
    unset "process[$n]"
    wait "$pid" || fail "rowrelay run ended with status $?"
  done
  sample "$1" "changes/s" "$(per_second "$2" "$(seconds_since "$since")")"
  sample "$1" "memory, MB" "$peak"
  sample "$1" "descriptors" "$descriptors"
  sql -d "$conninfo" -c "vacuum rowrelay.queue"
  sample "$1" "queue and its index, MB" \
    "$(sql -d "$conninfo" -c "select round(pg_total_relation_size('rowrelay.queue') / 1048576.0, 1)")"
}
