#!/usr/bin/env bash
#
# opensearch.sh: a private search engine in a directory of its own, for tests and the benchmark: one OpenSearch node, on
# loopback, without security.
#
#   opensearch.sh start DIR      make it where DIR is empty, start it, print its address, "127.0.0.1:PORT"
#   opensearch.sh stop DIR       end it; it keeps its port
#   opensearch.sh kill DIR       SIGKILL
#   opensearch.sh remove DIR     end it at once and remove DIR
#
# It is put together from its Maven artifacts, which are fetched once, into build/opensearch. Exit status 77 where it
# cannot be had: there is no Java (17), no Maven, or nothing to fetch from. HEAP=512m is its memory.
#
# Several may ask for the same DIR at once: it is started by one of them. As root it runs as user nobody.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)
parts=$(realpath -m "$here/../../build/opensearch")

die() { echo "opensearch.sh: $*" >&2; exit 1; }
cannot() { echo "opensearch.sh: $*" >&2; exit 77; }

as_owner() {
  if [[ -n $owner ]]; then runuser -u "$owner" -- "$@"; else "$@"; fi
}

fetch() {
  local lock
  mkdir -p "$parts"
  exec {lock}>"$parts/lock"
  flock "$lock"
  if [[ ! -e $parts/complete ]]; then
    command -v javac >/dev/null || cannot "there is no Java development kit here"
    command -v mvn >/dev/null || cannot "there is no Maven here"
    [[ ! -e $parts/failed || -n $(find "$parts/failed" -mmin +60) ]] || cannot "its parts could not be fetched a while ago"
    if ! timeout 400 mvn -B -q -f "$here/opensearch/pom.xml" dependency:copy-dependencies -DincludeScope=runtime \
      -DoutputDirectory="$parts/lib" >"$parts/log" 2>&1; then
      touch "$parts/failed"
      tail -n 3 "$parts/log" >&2
      cannot "its parts cannot be fetched"
    fi
    touch "$parts/complete"
  fi
  if [[ ! $parts/classes/SearchNode.class -nt $here/opensearch/SearchNode.java ]]; then
    javac -cp "$parts/lib/*" -d "$parts/classes" "$here/opensearch/SearchNode.java" || cannot "it cannot be compiled"
  fi
  chmod -R a+rX "$parts"
  exec {lock}>&-
}

create() {
  mkdir -p "$dir/config" "$dir/data" "$dir/tmp"
  cat >"$dir/config/opensearch.yml" <<CONF
node.name: node
discovery.type: single-node
network.host: 127.0.0.1
http.port: 0
transport.port: 0
node.processors: 2
cluster.routing.allocation.disk.threshold_enabled: false
CONF
  cat >"$dir/config/log4j2.properties" <<'CONF'
status = error
appender.console.type = Console
appender.console.name = console
appender.console.layout.type = PatternLayout
appender.console.layout.pattern = %d{ISO8601} %-5p %c{1}: %m%n
rootLogger.level = warn
rootLogger.appenderRef.console.ref = console
CONF
  # Where its user may not go, it takes the parts along.
  if as_owner test -r "$parts/complete" 2>/dev/null; then
    ln -s "$parts" "$dir/parts"
  else
    cp -r "$parts" "$dir/parts"
  fi
  if [[ -n $owner ]]; then chown -R "$owner" "$dir"; fi
  touch "$dir/created"
}

running_pid() {
  local pid
  [[ -r $dir/pid ]] || return 1
  read -r pid <"$dir/pid" || return 1
  grep -qs SearchNode "/proc/$pid/cmdline" && ! grep -qs '^State:[[:space:]]*Z' "/proc/$pid/status" || return 1
  echo "$pid"
}

launch() {
  local pid tries=0
  rm -f "$dir/port"
  # In a session of its own, and without the caller's files: it outlives who starts it.
  # shellcheck disable=SC2016
  as_owner setsid --fork bash -c '
    echo $$ >"$1/pid"
    exec java -Xms"$2" -Xmx"$2" -XX:+UseSerialGC ${3:+-XX:TieredStopAtLevel=$3} -Xshare:auto -Djava.io.tmpdir="$1/tmp" \
      -Dlog4j.configurationFile="$1/config/log4j2.properties" -cp "$1/parts/classes:$1/parts/lib/*" SearchNode "$1"
  ' bash "$dir" "${HEAP:-512m}" "${TIER-1}" </dev/null >>"$dir/log" 2>&1 {lock}>&- 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&-
  until [[ -e $dir/port ]]; do
    sleep 0.2
    if ((++tries > 900)) || { ((tries > 10)) && ! running_pid >/dev/null; }; then
      tail -n 20 "$dir/log" >&2
      die "it did not start"
    fi
  done
  sed -i "s/^http.port: .*/http.port: $(cat "$dir/port")/" "$dir/config/opensearch.yml"
}

start() {
  mkdir -p "$dir"
  exec {lock}>"$dir/lock"
  flock "$lock"
  fetch
  [[ -e $dir/created ]] || create
  running_pid >/dev/null || launch
  echo "127.0.0.1:$(cat "$dir/port")"
}

# end SIGNAL
end() {
  local pid
  pid=$(running_pid) || return 0
  kill "-$1" "$pid"
  while running_pid >/dev/null; do sleep 0.05; done
}

remove() {
  [[ -d $dir ]] || return 0
  [[ -e $dir/created || -e $dir/lock || -z $(ls -A "$dir") ]] || die "$dir was not made by opensearch.sh"
  end KILL
  rm -rf "$dir"
}

[[ $# == 2 ]] || { sed -n '6,9s/^# \{0,1\}//p' "$0" >&2; exit 2; }
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
  remove) remove ;;
  *) die "unknown command \"$command\"" ;;
esac
