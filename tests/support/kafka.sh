#!/usr/bin/env bash
#
# kafka.sh: a private Kafka broker in a directory of its own, for tests and the benchmark: one node in KRaft mode, on
# loopback.
#
#   kafka.sh start DIR      make it where DIR is empty, start it, print its address, "127.0.0.1:PORT"
#   kafka.sh stop DIR       end it; it keeps its port
#   kafka.sh kill DIR       SIGKILL
#   kafka.sh freeze DIR     it is there, and answers nothing; "thaw" ends that
#   kafka.sh remove DIR     end it at once and remove DIR
#
# It is put together from its Maven artifacts, which are fetched once, into build/kafka. Exit status 77 where it cannot be
# had: there is no Java, no Maven, or nothing to fetch from. HEAP=384m is its memory. With SECURE=1, when it is made, it asks
# for TLS and SASL: DIR/ca.pem is the authority, and user rowrelay has the password in DIR/password; it also
# takes tokens that nobody signed.
#
# With AUTO_CREATE=false it creates no topic by itself.
#
# Several may ask for the same DIR at once: it is started by one of them. As root it runs as user nobody.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
parts=$(realpath -m "$here/../../build/kafka")

die() { echo "kafka.sh: $*" >&2; exit 1; }
cannot() { echo "kafka.sh: $*" >&2; exit 77; }

as_owner() {
  if [[ -n $owner ]]; then runuser -u "$owner" -- "$@"; else "$@"; fi
}

fetch() {
  local lock
  mkdir -p "$parts"
  exec {lock}>"$parts/lock"
  flock "$lock"
  if [[ ! $parts/complete -nt $here/kafka/pom.xml ]]; then
    command -v java >/dev/null || cannot "there is no Java here"
    command -v mvn >/dev/null || cannot "there is no Maven here"
    [[ ! -e $parts/failed || -n $(find "$parts/failed" -mmin +60) ]] || cannot "its parts could not be fetched a while ago"
    if ! timeout 250 mvn -B -q -f "$here/kafka/pom.xml" dependency:copy-dependencies -DincludeScope=runtime \
      -DoutputDirectory="$parts/lib" >"$parts/log" 2>&1; then
      touch "$parts/failed"
      tail -n 3 "$parts/log" >&2
      cannot "its parts cannot be fetched"
    fi
    touch "$parts/complete"
  fi
  chmod -R a+rX "$parts"
  exec {lock}>&-
}

# A certificate for 127.0.0.1, and a password that only this broker has.
secure() {
  "$here/authority.sh" "$dir"
  openssl pkcs8 -topk8 -nocrypt -in "$dir/key.pem" -out "$dir/key8.pem"
  cat "$dir/key8.pem" "$dir/certificate.pem" >"$dir/keystore.pem"
  openssl rand -hex 12 >"$dir/password"
}

create() {
  mkdir -p "$dir/data" "$dir/tmp"
  if [[ -n ${SECURE:-} ]]; then secure; fi
  # Where its user may not go, it takes the parts along.
  if as_owner test -r "$parts/complete" 2>/dev/null; then
    ln -s "$parts" "$dir/parts"
  else
    cp -r "$parts" "$dir/parts"
  fi
  if [[ -n $owner ]]; then chown -R "$owner" "$dir"; fi
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
sasl.enabled.mechanisms=PLAIN,SCRAM-SHA-256,OAUTHBEARER
sasl.mechanism.inter.broker.protocol=PLAIN
listener.name.clients.plain.sasl.jaas.config=org.apache.kafka.common.security.plain.PlainLoginModule required \
username="rowrelay" password="$(cat "$dir/password")" user_rowrelay="$(cat "$dir/password")";
listener.name.clients.scram-sha-256.sasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required;
listener.name.clients.oauthbearer.sasl.jaas.config=org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule \
required unsecuredLoginStringClaim_sub="rowrelay";
CONF
}

# Replaces the shell.
be_java() {
  exec java -Xms"$heap" -Xmx"$heap" -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -Xshare:auto -Djava.io.tmpdir="$dir/tmp" \
    -Dorg.slf4j.simpleLogger.defaultLogLevel=warn -cp "$dir/parts/lib/*" "$@"
}

running_pid() {
  local pid
  [[ -r $dir/pid ]] || return 1
  read -r pid <"$dir/pid" || return 1
  grep -qs kafka.Kafka "/proc/$pid/cmdline" && ! grep -qs '^State:[[:space:]]*Z' "/proc/$pid/status" || return 1
  echo "$pid"
}

answers() { (exec 9<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; }

# Fails when the broker ends, which it does when somebody else has the port.
launch() { # PORT
  local tries=0 scram=()
  configure "$1"
  if [[ -e $dir/password ]]; then
    scram=(--add-scram "SCRAM-SHA-256=[name=rowrelay,password=$(cat "$dir/password")]")
  fi
  export -f be_java
  export dir heap=${HEAP:-384m}
  if [[ ! -e $dir/data/meta.properties ]]; then
    # shellcheck disable=SC2016
    as_owner bash -c 'be_java "$@"' bash kafka.tools.StorageTool format -t rowrelaytestsclusterid -c \
      "$dir/server.properties" "${scram[@]}" >>"$dir/log" 2>&1 || return 1
  fi
  rm -f "$dir/pid"
  # In a session of its own, and without the caller's files: it outlives who starts it.
  # shellcheck disable=SC2016
  as_owner setsid --fork bash -c 'echo $$ >"$dir/pid"; be_java kafka.Kafka "$dir/server.properties"' \
    </dev/null >>"$dir/log" 2>&1 {lock}>&- 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&-
  until [[ -e $dir/pid ]] && answers "$1"; do
    sleep 0.1
    if ((++tries > 1200)) || { ((tries > 10)) && ! running_pid >/dev/null; }; then return 1; fi
  done
  running_pid >/dev/null && echo "$1" >"$dir/port"
}

start() {
  local try
  mkdir -p "$dir"
  exec {lock}>"$dir/lock"
  flock "$lock"
  fetch
  [[ -d $dir/data ]] || create
  if [[ -e $dir/port ]]; then
    running_pid >/dev/null || launch "$(cat "$dir/port")" || die "it did not start: $(tail -n 5 "$dir/log")"
  else
    for try in 1 2 3 4 5; do
      rm -rf "$dir/data/"* 2>/dev/null
      if launch $((10000 + 2 * (RANDOM % 5000))); then break; fi
      ((try < 5)) || die "it did not start: $(tail -n 5 "$dir/log")"
    done
  fi
  echo "127.0.0.1:$(cat "$dir/port")"
}

# end SIGNAL
end() {
  local pid
  pid=$(running_pid) || return 0
  kill "-$1" "$pid"
  while running_pid >/dev/null; do sleep 0.05; done
}

signal() {
  local pid
  pid=$(running_pid) || die "it does not run"
  kill "-$1" "$pid"
}

remove() {
  [[ -d $dir ]] || return 0
  [[ -e $dir/lock || -z $(ls -A "$dir") ]] || die "$dir was not made by kafka.sh"
  end KILL
  rm -rf "$dir"
}

[[ $# == 2 ]] || { sed -n '6,10s/^# \{0,1\}//p' "$0" >&2; exit 2; }
command=$1
dir=$(realpath -m "$2")
lock=
owner=
if [[ $(id -u) == 0 ]]; then owner=nobody; fi
cd /

case $command in
  start) start ;;
  stop) end TERM ;;
  kill) end KILL ;;
  freeze) signal STOP ;;
  thaw) signal CONT ;;
  remove) remove ;;
  *) die "unknown command \"$command\"" ;;
esac
