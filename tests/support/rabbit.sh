#!/usr/bin/env bash
#
# rabbit.sh: a private RabbitMQ broker in a directory of its own, on loopback.
#
#   rabbit.sh start DIR      make it where DIR is empty, start it, print its address, "127.0.0.1:PORT"
#   rabbit.sh stop DIR       end it; it keeps its port
#   rabbit.sh kill DIR       SIGKILL
#   rabbit.sh freeze DIR     it is there, and answers nothing; "thaw" ends that
#   rabbit.sh remove DIR     end it at once and remove DIR
#
# With SECURE=1, when it is made, it asks for TLS and a password: DIR/ca.pem is the authority, and user rowrelay has the
# password in DIR/password. SETTINGS are further lines of its configuration.
#
# Exit status 77 where there is no rabbitmq-server (Debian has one). Several may ask for the same DIR at once. As root it
# runs as user nobody.
set -euo pipefail

die() { echo "rabbit.sh: $*" >&2; exit 1; }

as_owner() {
  if [[ -n $owner ]]; then runuser -u "$owner" -- "$@"; else "$@"; fi
}

create() {
  mkdir -p "$dir/data"
  if [[ -n ${SECURE:-} ]]; then
    "$here/authority.sh" "$dir"
    openssl rand -hex 12 >"$dir/password"
  fi
  printf '%b\n' "${SETTINGS:-}" >"$dir/settings"
  if [[ -n $owner ]]; then chown -R "$owner" "$dir"; fi
}

configure() { # PORT
  local listeners="listeners.tcp.1 = 127.0.0.1:$1"
  if [[ -e $dir/password ]]; then
    listeners="listeners.tcp = none
listeners.ssl.1 = 127.0.0.1:$1
ssl_options.cacertfile = $dir/ca.pem
ssl_options.certfile = $dir/certificate.pem
ssl_options.keyfile = $dir/key.pem
ssl_options.verify = verify_none
ssl_options.fail_if_no_peer_cert = false
default_user = rowrelay
default_pass = $(cat "$dir/password")"
  fi
  cat >"$dir/rabbitmq.conf" <<CONF
$listeners
log.console = true
log.console.level = warning
log.file = false
vm_memory_high_watermark.absolute = 1GB
disk_free_limit.absolute = 10MB
CONF
  cat "$dir/settings" >>"$dir/rabbitmq.conf"
}

# Erlang's own port mapper would outlive the broker: each has one of its own.
be_broker() { # DIR PORT
  export HOME=$1 ERL_EPMD_PORT=$(($2 + 1)) ERL_EPMD_ADDRESS=127.0.0.1 RABBITMQ_DIST_PORT=$(($2 + 2)) \
    RABBITMQ_NODENAME=rowrelay@localhost RABBITMQ_MNESIA_BASE=$1/data RABBITMQ_LOG_BASE=$1/data \
    RABBITMQ_CONFIG_FILE=$1/rabbitmq.conf RABBITMQ_ENABLED_PLUGINS_FILE=$1/plugins \
    RABBITMQ_ALLOW_INPUT=1 RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS=-noinput \
    RABBITMQ_CONF_ENV_FILE=$1/none RABBITMQ_FEATURE_FLAGS_FILE=$1/flags RABBITMQ_GENERATED_CONFIG_DIR=$1/data
  echo $$ >"$1/pid"
  exec /usr/lib/rabbitmq/bin/rabbitmq-server
}

running_pid() {
  local pid
  [[ -r $dir/pid ]] || return 1
  read -r pid <"$dir/pid" || return 1
  grep -qs -e beam -e rabbitmq -e erlexec "/proc/$pid/cmdline" && ! grep -qs '^State:[[:space:]]*Z' "/proc/$pid/status" || return 1
  echo "$pid"
}

answers() { (exec 9<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; }

# Fails when the server ends, which it does when somebody else has the port.
launch() { # PORT
  local tries=0
  configure "$1"
  rm -f "$dir/pid"
  # shellcheck disable=SC2016
  export -f be_broker
  as_owner setsid --fork bash -c 'be_broker "$@"' bash "$dir" "$1" \
    </dev/null >>"$dir/log" 2>&1 9>&- 3>&- 4>&- 5>&- 6>&- 7>&- 8>&-
  until [[ -e $dir/pid ]] && answers "$1"; do
    sleep 0.1
    if ((++tries > 1200)) || { ((tries > 100)) && ! running_pid >/dev/null; }; then return 1; fi
  done
  sleep 0.05
  running_pid >/dev/null && echo "$1" >"$dir/port"
}

start() {
  local try
  [[ -x /usr/lib/rabbitmq/bin/rabbitmq-server ]] || { echo "rabbit.sh: there is no rabbitmq-server here" >&2; exit 77; }
  mkdir -p "$dir"
  exec 9>"$dir/lock"
  flock 9
  [[ -d $dir/data ]] || create
  if [[ -e $dir/port ]]; then
    running_pid >/dev/null || launch "$(cat "$dir/port")" || die "it did not start: $(tail -n 5 "$dir/log")"
  else
    for try in 1 2 3 4 5; do
      end KILL
      rm -rf "$dir/data/"*
      if launch $((20000 + 3 * (RANDOM % 3000))); then break; fi
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
  [[ -e $dir/lock || -z $(ls -A "$dir") ]] || die "$dir was not made by rabbit.sh"
  end KILL
  [[ ! -e $dir/port ]] || ERL_EPMD_PORT=$(($(cat "$dir/port") + 1)) epmd -kill >/dev/null 2>&1 || true
  rm -rf "$dir"
}

[[ $# == 2 ]] || { sed -n '5,9s/^# \{0,1\}//p' "$0" >&2; exit 2; }
command=$1
here=$(cd "$(dirname "$0")" && pwd)
dir=$(realpath -m "$2")
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
