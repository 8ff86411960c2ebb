#!/usr/bin/env bash
#
# kafka.sh: a private Kafka broker, for tests and the benchmark: one node in KRaft mode; how it is called is said in server.sh.
#
# It is put together from its Maven artifacts, see parts.sh, and cannot be had where there is no Java, no Maven, or nothing to
# fetch from. HEAP=384m is its memory. It knows SECURE, which is TLS and SASL; it then also takes tokens that nobody signed. With
# AUTO_CREATE=false it creates no topic by itself.
# shellcheck source=tests/support/server.sh
source "$(dirname "$0")/server.sh"
# shellcheck source=tests/support/parts.sh
source "$here/parts.sh"

process=kafka.Kafka
first_port=10000
ports_each=2

have() { fetch_parts java 250; }

create() {
  mkdir -p "$dir/tmp"
  if [[ -e $dir/password ]]; then
    openssl pkcs8 -topk8 -nocrypt -in "$dir/key.pem" -out "$dir/key8.pem"
    cat "$dir/key8.pem" "$dir/certificate.pem" >"$dir/keystore.pem"
  fi
  take_parts
}

configure() { # PORT
  local protocol=PLAINTEXT
  if [[ -e $dir/password ]]; then protocol=SASL_SSL; fi
  cat >"$dir/server.properties" <<CONF
process.roles=broker,controller
node.id=1
controller.quorum.voters=1@127.0.0.1:$(($1 + 1))
listeners=CLIENTS://127.0.0.1:$1,CONTROLLER://127.0.0.1:$(($1 + 1))
advertised.listeners=CLIENTS://127.0.0.1:$1
listener.security.protocol.map=CLIENTS:$protocol,CONTROLLER:PLAINTEXT
inter.broker.listener.name=CLIENTS
controller.listener.names=CONTROLLER
log.dirs=$dir/data
num.partitions=4
auto.create.topics.enable=${AUTO_CREATE:-true}
num.network.threads=2
num.io.threads=2
background.threads=2
log.cleaner.dedupe.buffer.size=4000000
offsets.topic.num.partitions=1
offsets.topic.replication.factor=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
group.initial.rebalance.delay.ms=0
broker.heartbeat.interval.ms=200
broker.session.timeout.ms=1500
CONF
  [[ -e $dir/password ]] || return 0
  cat >>"$dir/server.properties" <<CONF
ssl.keystore.type=PEM
ssl.keystore.location=$dir/keystore.pem
ssl.truststore.type=PEM
ssl.truststore.location=$dir/ca.pem
listener.name.clients.ssl.client.auth=$([[ -e $dir/mutual ]] && echo required || echo none)
sasl.enabled.mechanisms=PLAIN,SCRAM-SHA-256,SCRAM-SHA-512,OAUTHBEARER
sasl.mechanism.inter.broker.protocol=PLAIN
listener.name.clients.plain.sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required \
username="rowrelay" password="$(cat "$dir/password")" user_rowrelay="$(cat "$dir/password")";
listener.name.clients.scram-sha-256.sasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required;
listener.name.clients.scram-sha-512.sasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required;
listener.name.clients.oauthbearer.sasl.jaas.config=org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule \
required unsecuredLoginStringClaim_sub="rowrelay";
CONF
}

serve() {
  local memory=${HEAP:-384m} mechanism scram=()
  local java=(java -Xms"$memory" -Xmx"$memory" -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Xshare:auto
    -Djava.io.tmpdir="$dir/tmp" -Dorg.slf4j.simpleLogger.defaultLogLevel=warn -cp "$dir/parts/lib/*")
  if [[ -e $dir/password ]]; then
    for mechanism in SCRAM-SHA-256 SCRAM-SHA-512; do
      scram+=(--add-scram "$mechanism=[name=rowrelay,password=$(cat "$dir/password")]")
    done
  fi
  [[ -e $dir/data/meta.properties ]] ||
    "${java[@]}" kafka.tools.StorageTool format -t rowrelaytestsclusterid -c "$dir/server.properties" "${scram[@]}" || exit 1
  exec "${java[@]}" kafka.Kafka "$dir/server.properties"
}

run "$@"
