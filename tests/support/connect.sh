#!/usr/bin/env bash
#
# connect.sh: Kafka Connect with two of Debezium's connectors, for tests and the benchmark; how it is called is said in server.sh.
# One connector, whose configuration is SETTINGS, works with the broker at BROKER, HOST:PORT. HEAP=384m is its largest heap.
#
# It is put together from its Maven artifacts, see parts.sh, and cannot be had where there is no Java, no Maven, or nothing to
# fetch from.
# shellcheck source=tests/support/server.sh
source "$(dirname "$0")/server.sh"
# shellcheck source=tests/support/parts.sh
source "$here/parts.sh"

process=ConnectStandalone
first_port=10000

have() { fetch_parts java 120; }

create() {
  mkdir -p "$dir/tmp"
  take_parts
}

# What is not a cluster keeps how far it has come in a file.
configure() { # PORT
  cat >"$dir/worker.properties" <<CONF
bootstrap.servers=$BROKER
key.converter=org.apache.kafka.connect.json.JsonConverter
value.converter=org.apache.kafka.connect.json.JsonConverter
offset.storage.file.filename=$dir/data/offsets
offset.flush.interval.ms=1000
listeners=http://127.0.0.1:$1
plugin.discovery=only_scan
consumer.auto.offset.reset=earliest
consumer.metadata.max.age.ms=1000
CONF
  cp "$dir/settings" "$dir/connector.properties"
}

serve() {
  exec java -Xms64m -Xmx"${HEAP:-384m}" -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Xshare:auto -Djava.io.tmpdir="$dir/tmp" \
    -Dorg.slf4j.simpleLogger.defaultLogLevel=warn -cp "$dir/parts/lib/*" \
    org.apache.kafka.connect.cli.ConnectStandalone "$dir/worker.properties" "$dir/connector.properties"
}

run "$@"
