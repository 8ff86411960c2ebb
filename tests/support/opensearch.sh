#!/usr/bin/env bash
#
# opensearch.sh: a private search engine, for tests and the benchmark: one OpenSearch node without security; how it is called
# is said in server.sh.
#
# It is put together from its Maven artifacts, see parts.sh, and cannot be had where there is no Java (17), no Maven, or nothing
# to fetch from. HEAP=512m is its memory; TIER= has Java compile as well as it can, but later.
# shellcheck source=tests/support/server.sh
source "$(dirname "$0")/server.sh"
# shellcheck source=tests/support/parts.sh
source "$here/parts.sh"

process=SearchNode

have() { fetch_parts javac 400; }

compile() {
  [[ ! $parts/classes/SearchNode.class -nt $here/opensearch/SearchNode.java ]] || return 0
  javac -cp "$parts/lib/*" -d "$parts/classes" "$here/opensearch/SearchNode.java" || cannot "it cannot be compiled"
}

create() {
  mkdir -p "$dir/config" "$dir/tmp"
  cat >"$dir/config/log4j2.properties" <<'CONF'
status = error
appender.console.type = Console
appender.console.name = console
appender.console.layout.type = PatternLayout
appender.console.layout.pattern = %d{ISO8601} %-5p %c{1}: %m%n
rootLogger.level = warn
rootLogger.appenderRef.console.ref = console
CONF
  take_parts
}

configure() { # PORT
  rm -f "$dir/started"
  cat >"$dir/config/opensearch.yml" <<CONF
node.name: node
discovery.type: single-node
network.host: 127.0.0.1
http.port: $1
transport.port: 0
node.processors: 2
cluster.routing.allocation.disk.threshold_enabled: false
CONF
}

serve() {
  local memory=${HEAP:-512m} tier=${TIER-1}
  exec java -Xms"$memory" -Xmx"$memory" -XX:+UseSerialGC ${tier:+-XX:TieredStopAtLevel=$tier} -Xshare:auto \
    -Djava.io.tmpdir="$dir/tmp" -Dlog4j.configurationFile="$dir/config/log4j2.properties" \
    -cp "$dir/parts/classes:$dir/parts/lib/*" SearchNode "$dir"
}

ready() { [[ -e $dir/started ]]; }

run "$@"
