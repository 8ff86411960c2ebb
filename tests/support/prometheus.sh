#!/usr/bin/env bash
#
# prometheus.sh: a private Prometheus in a directory of its own, on loopback, with the alerts of deploy/.
#
#   prometheus.sh start DIR      start it, print its address, "127.0.0.1:PORT"
#   prometheus.sh remove DIR     end it and remove DIR
#
# It scrapes, as job "rowrelay" and twice a second, what DIR/targets.json names ([{"targets": ["HOST:PORT"]}]), which may
# be written at any time. Exit status 77 where there is no Prometheus.
set -euo pipefail

here=$(cd "$(dirname "$0")" && pwd)

die() { echo "prometheus.sh: $*" >&2; exit 1; }

running_pid() {
  local pid
  [[ -s $dir/pid ]] && read -r pid <"$dir/pid" && grep -qs prometheus "/proc/$pid/cmdline" && echo "$pid"
}

# The port that it has taken is in its log.
port() { sed -n 's/.*msg="Listening on" address=127\.0\.0\.1:\([0-9]*\).*/\1/p' "$dir/log" | head -n 1; }

start() {
  local tries=0
  command -v prometheus >/dev/null || { echo "prometheus.sh: there is no Prometheus here" >&2; exit 77; }
  mkdir -p "$dir"
  cat >"$dir/prometheus.yml" <<CONF
global: {scrape_interval: 500ms, scrape_timeout: 500ms, evaluation_interval: 500ms}
rule_files: ["$(realpath "$here/../../deploy/prometheus/alerts.yml")"]
scrape_configs:
  - job_name: rowrelay
    file_sd_configs: [{files: ["$dir/targets.json"], refresh_interval: 1s}]
CONF
  # In a session of its own: it outlives who starts it.
  # shellcheck disable=SC2016
  setsid --fork bash -c '
    echo $$ >"$1/pid"
    exec prometheus --config.file="$1/prometheus.yml" --storage.tsdb.path="$1/data" --web.listen-address=127.0.0.1:0
  ' bash "$dir" </dev/null >>"$dir/log" 2>&1 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&-
  until [[ -n $(port) ]] && grep -q 'Server is ready' "$dir/log"; do
    sleep 0.1
    if ((++tries > 300)) || { ((tries > 10)) && ! running_pid >/dev/null; }; then
      tail -n 5 "$dir/log" >&2
      die "it did not start"
    fi
  done
  echo "127.0.0.1:$(port)"
}

remove() {
  local pid
  [[ -d $dir ]] || return 0
  [[ -e $dir/prometheus.yml || -z $(ls -A "$dir") ]] || die "$dir was not made by prometheus.sh"
  if pid=$(running_pid); then
    kill -KILL "$pid"
    while running_pid >/dev/null; do sleep 0.05; done
  fi
  rm -rf "$dir"
}

[[ $# == 2 ]] || { sed -n '5,6s/^# \{0,1\}//p' "$0" >&2; exit 2; }
command=$1
dir=$(realpath -m "$2")
cd /

case $command in
  start) start ;;
  remove) remove ;;
  *) die "unknown command \"$command\"" ;;
esac
