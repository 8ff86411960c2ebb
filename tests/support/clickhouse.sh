#!/usr/bin/env bash
#
# clickhouse.sh: a private ClickHouse server in a directory of its own, on loopback.
#
#   clickhouse.sh start DIR      make it where DIR is empty, start it, print its address, "127.0.0.1:PORT"
#   clickhouse.sh stop DIR       end it; it keeps its port
#   clickhouse.sh remove DIR     end it at once and remove DIR
#
# Exit status 77 where there is no clickhouse-server (Debian has one). Several may ask for the same DIR at once. As root it
# runs as user nobody.
set -euo pipefail

die() { echo "clickhouse.sh: $*" >&2; exit 1; }

as_owner() {
  if [[ -n $owner ]]; then runuser -u "$owner" -- "$@"; else "$@"; fi
}

create() {
  mkdir -p "$dir/data" "$dir/tmp"
  cat >"$dir/users.xml" <<'CONF'
<yandex>
  <profiles><default/></profiles>
  <users>
    <default>
      <password></password>
      <networks><ip>127.0.0.1</ip></networks>
      <profile>default</profile>
      <quota>default</quota>
    </default>
  </users>
  <quotas><default/></quotas>
</yandex>
CONF
  if [[ -n $owner ]]; then chown -R "$owner" "$dir"; fi
}

configure() { # PORT
  cat >"$dir/config.xml" <<CONF
<yandex>
  <logger><level>warning</level><console>1</console></logger>
  <listen_host>127.0.0.1</listen_host>
  <http_port>$1</http_port>
  <path>$dir/data/</path>
  <tmp_path>$dir/tmp/</tmp_path>
  <users_config>users.xml</users_config>
  <mark_cache_size>67108864</mark_cache_size>
  <timezone>UTC</timezone>
  <default_profile>default</default_profile>
  <default_database>default</default_database>
</yandex>
CONF
}

running_pid() {
  local pid
  [[ -r $dir/pid ]] || return 1
  read -r pid <"$dir/pid" || return 1
  grep -qs clickhouse "/proc/$pid/cmdline" && ! grep -qs '^State:[[:space:]]*Z' "/proc/$pid/status" || return 1
  echo "$pid"
}

answers() { (exec 9<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; }

# Fails when the server ends, which it does when somebody else has the port.
launch() { # PORT
  local tries=0
  configure "$1"
  rm -f "$dir/pid"
  # shellcheck disable=SC2016
  as_owner setsid --fork bash -c 'echo $$ >"$1/pid"; cd "$1"; exec clickhouse-server --config-file="$1/config.xml"' bash "$dir" \
    </dev/null >>"$dir/log" 2>&1 9>&- 3>&- 4>&- 5>&- 6>&- 7>&- 8>&-
  until [[ -e $dir/pid ]] && answers "$1"; do
    sleep 0.1
    if ((++tries > 600)) || { ((tries > 10)) && ! running_pid >/dev/null; }; then return 1; fi
  done
  running_pid >/dev/null && echo "$1" >"$dir/port"
}

start() {
  local try
  command -v clickhouse-server >/dev/null || { echo "clickhouse.sh: there is no clickhouse-server here" >&2; exit 77; }
  mkdir -p "$dir"
  exec 9>"$dir/lock"
  flock 9
  [[ -d $dir/data ]] || create
  if [[ -e $dir/port ]]; then
    running_pid >/dev/null || launch "$(cat "$dir/port")" || die "it did not start: $(tail -n 5 "$dir/log")"
  else
    for try in 1 2 3 4 5; do
      if launch $((20000 + RANDOM % 10000)); then break; fi
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

remove() {
  [[ -d $dir ]] || return 0
  [[ -e $dir/lock || -z $(ls -A "$dir") ]] || die "$dir was not made by clickhouse.sh"
  end KILL
  rm -rf "$dir"
}

[[ $# == 2 ]] || { sed -n '5,7s/^# \{0,1\}//p' "$0" >&2; exit 2; }
command=$1
dir=$(realpath -m "$2")
owner=
if [[ $(id -u) == 0 ]]; then owner=nobody; fi
cd /

case $command in
  start) start ;;
  stop) end TERM ;;
  remove) remove ;;
  *) die "unknown command \"$command\"" ;;
esac
