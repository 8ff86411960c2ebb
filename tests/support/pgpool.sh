#!/usr/bin/env bash
#
# pgpool.sh: a private Pgpool-II in a directory of its own, before a test's own source and its standby, which gets
# everything that only reads.
#
#   pgpool.sh start DIR     start it, print where its socket is; the port is 6432
#   pgpool.sh remove DIR    end it, and remove DIR
#
# The servers are in ROWRELAY_TEST_SOURCE_DIR and ROWRELAY_TEST_STANDBY_DIR. Exit status 77 where there is no Pgpool-II.
set -euo pipefail

die() { echo "pgpool.sh: $*" >&2; exit 1; }

configure() {
  cat >"$dir/conf" <<CONF
backend_clustering_mode = 'streaming_replication'
listen_addresses = ''
port = 6432
socket_dir = '$dir'
unix_socket_directories = '$dir'
pcp_listen_addresses = ''
pcp_socket_dir = '$dir'
pid_file_name = '$dir/pid'
logdir = '$dir'
num_init_children = 12
max_pool = 1
enable_pool_hba = off
load_balance_mode = on
sr_check_user = 'postgres'
sr_check_period = 1
failover_on_backend_error = off
backend_hostname0 = '$ROWRELAY_TEST_SOURCE_DIR'
backend_port0 = 5432
backend_weight0 = 0
backend_flag0 = 'ALWAYS_PRIMARY'
backend_hostname1 = '$ROWRELAY_TEST_STANDBY_DIR'
backend_port1 = 5432
backend_weight1 = 1
CONF
  touch "$dir/pcp" "$dir/hba"
}

start() {
  PATH=$PATH:/usr/sbin
  command -v pgpool >/dev/null || { echo "pgpool.sh: there is no pgpool here" >&2; exit 77; }
  mkdir -p "$dir"
  configure
  local as_owner=()
  if [[ $(id -u) == 0 ]]; then
    chown -R postgres "$dir"
    as_owner=(runuser -u postgres --)
  fi
  "${as_owner[@]}" setsid pgpool -n -f "$dir/conf" -F "$dir/pcp" -a "$dir/hba" </dev/null >"$dir/log" 2>&1 &
  local try
  for ((try = 0; try < 300; try++)); do
    if "$("$(dirname "$0")/pg.sh" bin)/psql" -XAtqc 'show pool_version' "host=$dir port=6432 user=postgres" \
      >/dev/null 2>&1; then
      echo "$dir"
      return
    fi
    sleep 0.1
  done
  die "Pgpool-II does not answer: $(tail -n 5 "$dir/log")"
}

remove() {
  local pid
  [[ -e $dir/conf ]] || return 0
  pid=$(cat "$dir/pid" 2>/dev/null || true) # a file without a newline
  if [[ -n $pid ]] && grep -q pgpool "/proc/$pid/cmdline" 2>/dev/null; then
    kill -INT "$pid" 2>/dev/null || true
    for ((try = 0; try < 50; try++)); do
      if [[ ! -d /proc/$pid ]]; then break; fi
      sleep 0.1
    done
    pkill -KILL -s "$pid" || true # its children spin when the servers are gone before them
  fi
  rm -rf "$dir"
}

[[ $# == 2 ]] || { sed -n '3,9s/^# \{0,1\}//p' "$0" >&2; exit 2; }
command=$1
dir=$(realpath -m "$2")
case $command in
  start | remove) "$command" ;;
  *) die "unknown command \"$command\"" ;;
esac
