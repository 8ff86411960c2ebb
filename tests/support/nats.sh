#!/usr/bin/env bash
#
# nats.sh: a private NATS server in a directory of its own, on loopback.
#
#   nats.sh start DIR      make it where DIR is empty, start it, print its address, "127.0.0.1:PORT"
#   nats.sh stop DIR       end it; it keeps its port
#   nats.sh kill DIR       SIGKILL
#   nats.sh freeze DIR     it is there, and answers nothing; "thaw" ends that
#   nats.sh remove DIR     end it at once and remove DIR
#
# It has JetStream. With SECURE=1, when it is made, it asks for TLS and a password: DIR/ca.pem is the authority, and user
# rowrelay has the password in DIR/password. SETTINGS are further lines of its configuration.
#
# Exit status 77 where there is no nats-server (Debian has one). Several may ask for the same DIR at once. As root it
# runs as user nobody.
set -euo pipefail

die() { echo "nats.sh: $*" >&2; exit 1; }

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
  cat >"$dir/nats.conf" <<CONF
listen: "127.0.0.1:$1"
jetstream { store_dir: "$dir/data" }
CONF
  cat "$dir/settings" >>"$dir/nats.conf"
  [[ -e $dir/password ]] || return 0
  cat >>"$dir/nats.conf" <<CONF
tls { cert_file: "$dir/certificate.pem", key_file: "$dir/key.pem" }
authorization { user: rowrelay, password: "$(cat "$dir/password")" }
CONF
}

running_pid() {
  local pid
  [[ -r $dir/pid ]] || return 1
  read -r pid <"$dir/pid" || return 1
  grep -qs nats-server "/proc/$pid/cmdline" && ! grep -qs '^State:[[:space:]]*Z' "/proc/$pid/status" || return 1
  echo "$pid"
}

answers() { (exec 9<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; }

# Fails when the server ends, which it does when somebody else has the port.
launch() { # PORT
  local tries=0
  configure "$1"
  rm -f "$dir/pid"
  # shellcheck disable=SC2016
  as_owner setsid --fork bash -c 'echo $$ >"$1/pid"; exec nats-server -c "$1/nats.conf"' bash "$dir" \
    </dev/null >>"$dir/log" 2>&1 9>&- 3>&- 4>&- 5>&- 6>&- 7>&- 8>&-
  until [[ -e $dir/pid ]] && answers "$1"; do
    sleep 0.05
    if ((++tries > 600)) || { ((tries > 20)) && ! running_pid >/dev/null; }; then return 1; fi
  done
  sleep 0.05
  running_pid >/dev/null && echo "$1" >"$dir/port"
}

start() {
  local try
  command -v nats-server >/dev/null || { echo "nats.sh: there is no nats-server here" >&2; exit 77; }
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

signal() {
  local pid
  pid=$(running_pid) || die "it does not run"
  kill "-$1" "$pid"
}

remove() {
  [[ -d $dir ]] || return 0
  [[ -e $dir/lock || -z $(ls -A "$dir") ]] || die "$dir was not made by nats.sh"
  end KILL
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
