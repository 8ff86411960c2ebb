#!/usr/bin/env bash
# Prints what a process and all below it are doing: each one's command line and stacks (by gdb, else what the kernel says), and
# the sessions of the tests' servers that are at work. For a test that hangs.
#
#   stacks.sh PID
set -u

below() { # PID
  local child
  echo "$1"
  cat "/proc/$1/task/"*/children 2>/dev/null | tr ' ' '\n' | while read -r child; do [[ -z $child ]] || below "$child"; done
}

for pid in $(below "$1"); do
  [[ -d /proc/$pid ]] || continue
  echo "---- process $pid: $(tr '\0' ' ' <"/proc/$pid/cmdline" | cut -c 1-200), in $(cat "/proc/$pid/wchan" 2>/dev/null)"
  if command -v gdb >/dev/null; then
    timeout 30 gdb -p "$pid" -batch -ex 'thread apply all backtrace 15' 2>/dev/null </dev/null | grep -E '^(Thread|#)' | cut -c 1-200
  else
    cat "/proc/$pid/stack" 2>/dev/null
  fi
done

for server in "${ROWRELAY_TEST_SOURCE:-}" "${ROWRELAY_TEST_TARGET:-}"; do
  [[ -n $server ]] || continue
  echo "---- sessions at work in ${server%% *}"
  timeout 10 psql -X "$server" -c "select pid, datname, left(application_name, 20) as application, state, wait_event,
    pg_blocking_pids(pid) as blocked_by, now() - query_start as since, left(query, 200) as query
    from pg_stat_activity where state <> 'idle' and pid <> pg_backend_pid()" </dev/null
done
