#!/usr/bin/env bash
#
# pg.sh: a private PostgreSQL server in a directory of its own, for tests, the demo and the benchmark.
#
#   pg.sh start DIR [NAME=VALUE…]      make it where DIR is empty, start it, print its conninfo
#   pg.sh stop DIR [fast|immediate]    end it; "immediate" is what a crash leaves behind
#   pg.sh restart DIR [MODE]           both; settings given earlier stay
#   pg.sh kill DIR                     SIGKILL to the server and all its processes, as the kernel would do
#   pg.sh standby DIR PRIMARY          make a streaming standby of the server in PRIMARY, which is restarted for that
#   pg.sh promote DIR                  make it a primary
#   pg.sh remove DIR                   end it at once and remove DIR; its log goes to directory ROWRELAY_TEST_LOGS, if that is set
#   pg.sh bin                          where psql, pgbench and the others of the same version are
#
# The newest server that is installed; PG_BIN names another one's directory, which DIR remembers.
# In DIR: data/ is the cluster, log what the server says, and the socket. Anybody who can enter DIR is the superuser.
# There is no TCP unless port=N (then on 127.0.0.1) or listen_addresses=A is asked for. A socket's path may have
# 107 bytes, so keep DIR short. NAME=VALUE are server settings; fsync=on for figures that should mean something.
#
# PostgreSQL refuses to run as root: root starts it as user postgres, or nobody where there is none, and DIR then belongs
# to that user, who must be able to reach it.
set -euo pipefail

die() { echo "pg.sh: $*" >&2; exit 1; }

find_bin() {
  local dir
  if [[ -n ${PG_BIN:-} ]]; then
    [[ -x $PG_BIN/initdb ]] || die "there is no initdb in PG_BIN=$PG_BIN"
    echo "$PG_BIN"
    return
  fi
  while read -r dir; do
    if [[ -x $dir/initdb ]]; then echo "$dir"; return; fi
  done < <(printf '%s\n' /usr/lib/postgresql/*/bin | sort -Vr; pg_config --bindir 2>/dev/null)
  die "there is no PostgreSQL server here; install one (Debian: apt-get install postgresql) or set PG_BIN"
}

# Runs a command as the user that owns the server.
as_owner() {
  if [[ -n $owner ]]; then runuser -u "$owner" -- "$@"; else "$@"; fi
}

# The server's pid; fails where none runs. After a crash the pid may be somebody else's, hence the look at where it works
# (which root may not take in every container, but its owner may).
running_pid() {
  local pid
  [[ -r $data/postmaster.pid ]] || return 1
  read -r pid <"$data/postmaster.pid" || return 1
  [[ $(as_owner readlink "/proc/$pid/cwd") == "$data" ]] || return 1
  echo "$pid"
}

gone() { [[ ! -d /proc/$1 ]] || grep -q '^State:[[:space:]]*Z' "/proc/$1/status" 2>/dev/null; }

control() { as_owner "$bin/pg_ctl" -s -D "$data" -w -t 120 "$@" >&2; }

launch() {
  control -l "$dir/log" start || { tail -n 20 "$dir/log" >&2; die "the server in $dir did not start"; }
}

create() {
  as_owner "$bin/initdb" -D "$data" -U postgres -A trust -E UTF8 --locale=C.UTF-8 --no-sync >"$dir/initdb.out" 2>&1 ||
    { cat "$dir/initdb.out" >&2; die "initdb failed"; }
  rm "$dir/initdb.out"
  as_owner ln -s "$bin" "$dir/bin"
  as_owner tee -a "$data/postgresql.conf" >/dev/null <<CONF
unix_socket_directories = '$dir'
listen_addresses = ''
port = 5432
max_connections = 200
wal_level = logical
fsync = off
max_wal_size = 2GB
autovacuum_naptime = 1h
jit = off
log_line_prefix = '%m [%p] %a '
CONF
}

# The last mention of a setting wins, so what is asked for later is simply added.
configure() {
  local setting
  for setting in "$@"; do
    [[ $setting == *=* ]] || die "a setting is NAME=VALUE, not \"$setting\""
    if [[ $setting == port=* ]]; then echo "listen_addresses = '127.0.0.1'"; fi
    echo "${setting%%=*} = '${setting#*=}'"
  done | as_owner tee -a "$data/postgresql.conf" >/dev/null
}

start() {
  mkdir -p "$dir"
  if [[ -n $owner ]]; then chown "$owner" "$dir"; fi
  as_owner test -w "$dir" || die "user $(as_owner id -un) cannot reach $dir (chmod a+x the directories above it)"
  [[ -e $data/PG_VERSION ]] || create
  configure "$@"
  running_pid >/dev/null || launch
  echo "host=$dir port=$(sed -n 4p "$data/postmaster.pid") user=postgres dbname=postgres"
}

stop() {
  if running_pid >/dev/null; then control -m "${1:-fast}" stop; fi
}

# A copy of a server that is down needs no tool of its version.
standby() {
  local primary
  primary=$(realpath "$1")
  mkdir -p "$dir"
  if [[ -n $owner ]]; then chown "$owner" "$dir"; fi
  bin=$(readlink "$primary/bin")
  "$self" stop "$primary"
  as_owner cp -R "$primary/data" "$data"
  as_owner ln -s "$bin" "$dir/bin"
  as_owner touch "$data/standby.signal"
  "$self" start "$primary" >/dev/null
  start "unix_socket_directories=$dir" "primary_conninfo=host=$primary port=5432 user=postgres"
}

# Stopped first, so that no new process is born between the list and the kill. All must be gone before the server can be
# started again; and where nobody reaps them (a container without an init), the lock files keep on naming a live pid.
kill_all() {
  local pid processes process
  pid=$(running_pid) || die "no server runs in $dir"
  kill -STOP "$pid"
  processes=$(grep -sl "^PPid:[[:space:]]*$pid\$" /proc/[0-9]*/status | cut -d/ -f3) || true
  # shellcheck disable=SC2086 # one word each
  kill -KILL "$pid" $processes
  for process in $pid $processes; do
    until gone "$process"; do sleep 0.02; done
  done
  rm -f "$data/postmaster.pid" "$dir"/.s.PGSQL.*.lock
}

remove() {
  [[ -d $dir ]] || return 0
  [[ -e $data/PG_VERSION || -z $(ls -A "$dir") ]] || die "$dir was not made by pg.sh"
  stop immediate
  if [[ -n ${ROWRELAY_TEST_LOGS:-} ]]; then cp "$dir/log" "$ROWRELAY_TEST_LOGS/${dir##*/}" 2>/dev/null || true; fi
  rm -rf "$dir"
}

if [[ ${1:-} == bin ]]; then find_bin; exit; fi
[[ $# -ge 2 ]] || { sed -n '3,12s/^# \{0,1\}//p' "$0" >&2; exit 2; }

self=$(realpath "$0")
command=$1
dir=$(realpath -m "$2")
data=$dir/data
shift 2
if [[ -e $dir/bin ]]; then bin=$dir/bin; else bin=$(find_bin); fi
owner=
if [[ $(id -u) == 0 ]]; then
  owner=postgres
  id postgres >/dev/null 2>&1 || owner=nobody
fi
[[ ${#dir} -le 88 ]] || die "$dir is too long for a socket's path"
cd / # the server's user may not be able to enter where we are

case $command in
  start) start "$@" ;;
  stop) stop "$@" ;;
  restart) stop "$@"; launch ;;
  kill) kill_all ;;
  standby) standby "$@" ;;
  promote) control promote ;;
  remove) remove ;;
  *) die "unknown command \"$command\"" ;;
esac
