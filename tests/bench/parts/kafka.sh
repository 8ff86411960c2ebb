# shellcheck shell=bash disable=SC2034,SC2154 # variables are shared with bench.sh
# kafka: changes wait on the source, and are brought to Kafka; beside Debezium, as a source connector of Kafka Connect.

# shellcheck source=tests/bench/parts/drain.sh
source parts/drain.sh

part_kafka() {
  local broker round name order rows=$((changes / 5)) source_server
  broker=$(HEAP=1g ../support/kafka.sh start "$dir/kafka" 2>"$dir/kafka.log") ||
    { note "there is no Kafka here: $(tail -n 1 "$dir/kafka.log")"; return 0; }
  command -v kcat >/dev/null || { note "there is no kcat here"; return 0; }
  heading "Kafka: $(thousands "$rows") waiting changes to a broker"
  kafka_source
  for round in 1 2 3; do
    if ((round % 2)); then order=(rowrelay debezium); else order=(debezium rowrelay); fi
    for name in "${order[@]}"; do "kafka_$name"; done
  done
  report "" Debezium
  note "Updates, inserts and deletes of rows with 10 columns, in transactions of 10, in Debezium's envelope without schema, acks=all." \
    "events/s: from the time of the first message to that of the last; what a process needs to start does not count." \
    "CPU: of the process that brings them. Memory: the most that was resident. rowrelay: two workers. Debezium: its connector for" \
    "PostgreSQL (pgoutput) in Kafka Connect, with a heap of up to 512 MB. Median (smallest–largest) of 3 alternating rounds."
}

# JDBC needs TCP.
kafka_source() {
  local name port=$((20000 + RANDOM % 10000))
  $pg start "$dir/kafka_source" "port=$port" fsync=on shared_buffers=512MB max_wal_size=8GB checkpoint_timeout=30min >/dev/null
  source_server="host=$dir/kafka_source port=$port user=postgres"
  for name in relayed debezium; do
    sql -d "$source_server" -c "create database $name"
    sql -d "$source_server dbname=$name" -f sql/common.sql -c "select bench.make_table('item', 1, 100000)" >/dev/null
  done
  sql -d "$source_server dbname=relayed" -f ../../schema/install.sql >/dev/null
  sql -d "$source_server dbname=relayed" -c "select rowrelay.capture_table('item')" \
    -c "select rowrelay.add_target('kafka', 'kafka://$broker/relayed.{table}', '{\"format\": \"debezium\"}')" \
    -c "select rowrelay.route('item', 'kafka')" >/dev/null
  sql -d "$source_server dbname=debezium" -c "create publication bench for table item" -c "alter table item replica identity default"
  printf -v SETTINGS '%s\\n' name=source connector.class=io.debezium.connector.postgresql.PostgresConnector tasks.max=1 \
    plugin.name=pgoutput slot.name=bench publication.name=bench publication.autocreate.mode=disabled topic.prefix=debezium \
    snapshot.mode=no_data database.hostname=127.0.0.1 "database.port=$port" database.user=postgres database.password=none \
    database.dbname=debezium key.converter=org.apache.kafka.connect.json.JsonConverter key.converter.schemas.enable=false \
    value.converter=org.apache.kafka.connect.json.JsonConverter value.converter.schemas.enable=false
  export SETTINGS BROKER=$broker HEAP=512m
  ../support/connect.sh start "$dir/connect" >"$dir/connect.log" 2>&1 || fail "Kafka Connect has not started"
  wait_until "$source_server" "exists (select from pg_replication_slots where slot_name = 'bench' and active)"
  ../support/connect.sh stop "$dir/connect"
}

# How many messages are in the topic of a variant.
kafka_count() { # PREFIX
  local partitions=() n
  for n in 0 1 2 3; do partitions+=(-t "$1.public.item:$n:-1"); done
  # none before the first message
  { kcat -b "$broker" -Q "${partitions[@]}" 2>/dev/null || true; } | awk '{ sum += $NF } END { print sum + 0 }'
}

# Waits until so many more are there, and tells what they took; the process's numbers are taken before it ends.
kafka_wait() { # VARIANT PREFIX BEFORE PID
  local until=$((SECONDS + 600))
  while (($(kafka_count "$2") < $3 + rows)); do
    ((SECONDS < until)) || fail "$1 has brought $(($(kafka_count "$2") - $3)) of $rows changes"
    sleep 0.2
  done
  sample "$1" "memory, MB" "$(awk '/^VmHWM/ { print $2 / 1024 }' "/proc/$4/status")"
  sample "$1" "its CPU, µs each" "$(awk -v n="$rows" -v t="$(getconf CLK_TCK)" '{ sub(/.*\) /, ""); print ($12 + $13) * 1e6 / t / n }' \
    "/proc/$4/stat")"
}

# From the first of the last so many messages to the last of them, by their times.
kafka_rate() { # VARIANT PREFIX
  sample "$1" "events/s" "$(kcat -b "$broker" -C -t "$2.public.item" -e -q -f '%T\n' | sort -n | tail -n "$rows" |
    awk 'NR == 1 { first = $1 } END { print (NR - 1) * 1000 / ($1 - first) }')"
}

kafka_changes() { changes=$rows make_changes "$1"; sql -d "$source_server" -c checkpoint; }

kafka_rowrelay() {
  local before
  kafka_changes relayed
  before=$(kafka_count relayed)
  "$rowrelay" -d "$source_server dbname=relayed" run --workers 2 >"$dir/run.log" 2>&1 &
  process[replicator]=$!
  kafka_wait rowrelay relayed "$before" "${process[replicator]}"
  end_replicator
  kafka_rate rowrelay relayed
}

kafka_debezium() {
  local before
  kafka_changes debezium
  before=$(kafka_count debezium)
  ../support/connect.sh start "$dir/connect" >"$dir/connect.log" 2>&1 || fail "Kafka Connect has not started"
  kafka_wait Debezium debezium "$before" "$(cat "$dir/connect/pid")"
  ../support/connect.sh stop "$dir/connect"
  kafka_rate Debezium debezium
}
