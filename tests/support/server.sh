# shellcheck shell=bash
#
# server.sh: what the scripts share that start a private server in a directory of its own, on loopback.
#
#   SCRIPT start DIR      make it where DIR is empty, start it, print its address, "127.0.0.1:PORT"
#   SCRIPT stop DIR       end it; it keeps its port
#   SCRIPT kill DIR       SIGKILL
#   SCRIPT freeze DIR     it is there, and answers nothing; "thaw" ends that
#   SCRIPT remove DIR     end it at once and remove DIR; its log goes to directory ROWRELAY_TEST_LOGS, if that is set
#
# Exit status 77 where the server cannot be had. Several may ask for the same DIR at once: it is started by one of them. As
# root it runs as user nobody. With SECURE=1, when it is made, a script that knows TLS asks for it and for a password: DIR/ca.pem
# is the authority, and user rowrelay has the password in DIR/password. With SECURE=mutual it also asks clients for a certificate
# of the authority. SETTINGS are then further lines of its configuration,
# which are in DIR/settings.
#
# A script sources this page, says what is its own, and ends with `run "$@"`:
#
#   process           a pattern of egrep that the server's command line has
#   have              ends with cannot() where the server cannot be had
#   create            makes what the server needs in DIR, beside data/
#   configure PORT    makes its configuration; each start does
#   serve PORT        becomes the server, in a shell of its own, which has $dir and what the script exports
#   ready PORT        whether it can be used; unless the script says otherwise, when somebody answers on the port
#   forget            ends what it left outside of DIR
#   first_port, ports_each    how many ports in a row it needs, and where those begin of which it chooses
set -euo pipefail

name=$(basename "$0")
here=$(cd "$(dirname "$0")" && pwd)
owner=
if [[ $(id -u) == 0 ]]; then owner=nobody; fi
PATH=$PATH:/usr/sbin
lock=

first_port=20000
ports_each=1
# A server that ends is noticed at once; this is for one that hangs.
seconds_to_start=180

die() { echo "$name: $*" >&2; exit 1; }
cannot() { echo "$name: $*" >&2; exit 77; }

as_owner() {
  if [[ -n $owner ]]; then runuser -u "$owner" -- "$@"; else "$@"; fi
}

answers() { (exec 9<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null; }

create() { :; }
ready() { answers "$1"; }
forget() { :; }

make() {
  mkdir -p "$dir/data"
  if [[ -n ${SECURE:-} ]]; then
    "$here/authority.sh" "$dir"
    openssl rand -hex 12 >"$dir/password"
    if [[ $SECURE == mutual ]]; then touch "$dir/mutual"; fi
  fi
  printf '%b\n' "${SETTINGS:-}" >"$dir/settings"
  create
  if [[ -n $owner ]]; then chown -R "$owner" "$dir"; fi
  touch "$dir/created"
}

# Until it has become the server, its process is a shell that has the script's name among its words.
running_pid() {
  local pid
  [[ -r $dir/pid ]] || return 1
  read -r pid <"$dir/pid" || return 1
  grep -qsE "$process|$name" "/proc/$pid/cmdline" && ! has_ended "$pid" || return 1
  echo "$pid"
}

has_ended() { # PID
  [[ ! -d /proc/$1 ]] || grep -qs '^State:[[:space:]]*Z' "/proc/$1/status"
}

# Fails when the server ends, which it does when somebody else has the port.
launch() { # PORT
  local began=$SECONDS
  configure "$1"
  rm -f "$dir/pid"
  export dir
  export -f serve
  # In a session of its own, and without the caller's files: it outlives who starts it.
  # shellcheck disable=SC2016
  as_owner setsid --fork bash -c 'echo $$ >"$dir/pid"; serve "$1"' "$name" "$1" \
    </dev/null >>"$dir/log" 2>&1 {lock}>&- 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&- || return 1
  until [[ -s $dir/pid ]] && ready "$1"; do
    sleep 0.05
    # By its number alone: a process that becomes another program has no command line for a moment.
    if [[ -s $dir/pid ]] && has_ended "$(cat "$dir/pid")"; then return 1; fi
    if ((SECONDS - began > seconds_to_start)); then return 1; fi
  done
  sleep 0.05
  running_pid >/dev/null && echo "$1" >"$dir/port"
}

# Who is there already would be taken for the new server, until that has found its port taken and ended.
somebody_answers() { # PORT
  local port
  for ((port = $1; port < $1 + ports_each; port++)); do
    if answers "$port"; then return 0; fi
  done
  return 1
}

choose_port() {
  local port try
  for ((try = 0; try < 1000; try++)); do
    port=$((first_port + ports_each * (RANDOM % (10000 / ports_each))))
    if ! somebody_answers "$port"; then echo "$port"; return; fi
  done
  die "there is no free port from $first_port to $((first_port + 9999))"
}

# Nobody has been told of what it has stored, because nobody has been told of its port.
launch_anew() {
  local port
  end KILL
  rm -rf "$dir/data/"*
  port=$(choose_port) || exit 1
  launch "$port"
}

start() {
  local try
  have
  mkdir -p "$dir"
  exec {lock}>"$dir/lock"
  flock "$lock"
  [[ -e $dir/created ]] || make
  if [[ -e $dir/port ]]; then
    running_pid >/dev/null || launch "$(cat "$dir/port")" || die "it did not start: $(tail -n 5 "$dir/log")"
  else
    for try in 1 2 3 4 5; do
      if launch_anew; then break; fi
      ((try < 5)) || die "it did not start: $(tail -n 5 "$dir/log")"
    done
  fi
  echo "127.0.0.1:$(cat "$dir/port")"
}

end() { # SIGNAL
  local pid
  pid=$(running_pid) || return 0
  kill "-$1" "$pid"
  while running_pid >/dev/null; do sleep 0.05; done
}

signal() { # SIGNAL
  local pid
  pid=$(running_pid) || die "it does not run"
  kill "-$1" "$pid"
}

remove() {
  [[ -d $dir ]] || return 0
  [[ -e $dir/lock || -z $(ls -A "$dir") ]] || die "$dir was not made by $name"
  end KILL
  forget
  if [[ -n ${ROWRELAY_TEST_LOGS:-} ]]; then cp "$dir/log" "$ROWRELAY_TEST_LOGS/${dir##*/}" 2>/dev/null || true; fi
  rm -rf "$dir"
}

run() {
  [[ $# == 2 ]] || { sed -n "s/^#   SCRIPT/$name/p" "$here/server.sh" >&2; exit 2; }
  dir=$(realpath -m "$2")
  cd /
  case $1 in
    start) start ;;
    stop) end TERM ;;
    kill) end KILL ;;
    freeze) signal STOP ;;
    thaw) signal CONT ;;
    remove) remove ;;
    *) die "unknown command \"$1\"" ;;
  esac
}
