#!/usr/bin/env bash
#
# pgbouncer.sh: a private PgBouncer in a directory of its own, before the source and the target of a test.
#
#   pgbouncer.sh start DIR     start it, print where its socket is; the port is 6432
#   pgbouncer.sh stop DIR      end it at once, as a crash would
#   pgbouncer.sh remove DIR    the same, and remove DIR
#
# Its databases are source and target, with a session for each connection; source_transaction and target_transaction,
# with a session for each transaction; and source_statement. All lead to database ROWRELAY_TEST_DATABASE of the servers
# in ROWRELAY_TEST_SOURCE_DIR and ROWRELAY_TEST_TARGET_DIR. Exit status 77 where there is no PgBouncer.
set -euo pipefail

die() { echo "pgbouncer.sh: $*" >&2; exit 1; }

configure() {
  local side
  echo '"postgres" ""' >"$dir/users"
  echo '[databases]' >"$dir/ini"
  for side in source target; do
    local server=$ROWRELAY_TEST_SOURCE_DIR
    [[ $side == source ]] || server=$ROWRELAY_TEST_TARGET_DIR
    for mode in session transaction statement; do
      local name=${side}_$mode
      echo "${name%_session} = host=$server port=5432 dbname=$ROWRELAY_TEST_DATABASE pool_mode=$mode"
    done
  done >>"$dir/ini"
  cat >>"$dir/ini" <<CONF
[pgbouncer]
listen_port = 6432
unix_socket_dir = $dir
auth_type = trust
auth_file = $dir/users
default_pool_size = 60
max_client_conn = 200
logfile = $dir/log
pidfile = $dir/pid
CONF
}

running_pid() {
  local pid
  [[ -r $dir/pid ]] || return 1
  read -r pid <"$dir/pid" || return 1
  tr '\0' ' ' <"/proc/$pid/cmdline" 2>/dev/null | grep -q "pgbouncer.* $dir/ini" || return 1
  echo "$pid"
}

start() {
  PATH=$PATH:/usr/sbin
  command -v pgbouncer >/dev/null || { echo "pgbouncer.sh: there is no pgbouncer here" >&2; exit 77; }
  mkdir -p "$dir"
  [[ -e $dir/ini ]] || configure
  local as_owner=()
  if [[ $(id -u) == 0 ]]; then # which PgBouncer refuses to run as
    chown -R postgres "$dir"
    as_owner=(runuser -u postgres --)
  fi
  running_pid >/dev/null || "${as_owner[@]}" pgbouncer -q -d "$dir/ini" >&2 || die "PgBouncer does not start"
  local try
  for ((try = 0; try < 100; try++)); do
    if [[ -S $dir/.s.PGSQL.6432 ]] && running_pid >/dev/null; then echo "$dir"; return; fi
    sleep 0.1
  done
  die "PgBouncer does not answer: $(tail -n 5 "$dir/log")"
}

stop() {
  local pid
  pid=$(running_pid) || return 0
  kill -KILL "$pid"
  while grep -sq '^State:[[:space:]]*[^ZX]' "/proc/$pid/status"; do sleep 0.02; done
  rm -f "$dir/pid" "$dir/.s.PGSQL.6432" "$dir/.s.PGSQL.6432.lock"
}

remove() {
  [[ -e $dir/ini ]] || return 0
  stop
  rm -rf "$dir"
}

[[ $# == 2 ]] || { sed -n '3,9s/^# \{0,1\}//p' "$0" >&2; exit 2; }
command=$1
dir=$(realpath -m "$2")
case $command in
  start | stop | remove) "$command" ;;
  *) die "unknown command \"$command\"" ;;
esac
