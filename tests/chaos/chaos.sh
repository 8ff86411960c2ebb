#!/usr/bin/env bash
# A run: servers of its own, writers, faults, peace, and the checker. Says the seed first and how to repeat it, and ends
# with exit status 1 when the checker finds a violation; then the directory of the run stays.
#
#   chaos.sh BUILD PROGRAM    SEED=number (default: a new one), MINUTES=number (default: 2), FAULT=name for that one only,
#                             ALL=1 for all faults, also those that need root or libfaketime,
#                             JUDGE=1 has porcupine judge the histories, too (judge.sh),
#                             PLANT=name for a program with a safeguard taken out (plants/), KEEP=1 keeps the directory
#
# With ALL or FAULT=fill_disk, as root, servers have disks of their own, mounted in a namespace of its own: they vanish with
# the last process. With ALL or FAULT=jump_clock, where libfaketime is installed, servers and processes have clocks of their
# own. The source's is more than a day behind until there is peace, and strikes midnight in the middle of the run. Ahead it
# could not be: libfaketime gives handlers of signals the true time, and PostgreSQL's timeouts would then come when that has
# caught up.
set -uo pipefail
has_disks=''
has_clocks=''
case ${ALL:+all}${FAULT:-} in all* | fill_disk) has_disks=1 ;; esac
case ${ALL:+all}${FAULT:-} in all* | jump_clock) has_clocks=1 ;; esac
if [[ -n $has_disks && -z ${OWN_MOUNTS:-} ]] && unshare --mount true 2>/dev/null; then
  OWN_MOUNTS=1 exec unshare --mount "$0" "$@"
fi
cd "$(dirname "$0")/../.." || exit 1

build=$(realpath "$1")
program=$(realpath "$2")
seed=${SEED:-$((RANDOM << 15 | RANDOM))}
minutes=${MINUTES:-2}
pg=$PWD/tests/support/pg.sh
dir=$(mktemp -d /tmp/rowrelay-chaos-XXXXXX) # a socket's path must be short
mkdir "$dir/out"
chmod -R 755 "$dir"
driver=
CLOCK_LIBRARY=''
status=1

# What libfaketime leaves of killed processes.
forget_clocks() {
  local clock
  [[ -n $CLOCK_LIBRARY ]] || return 0
  for clock in /dev/shm/*faketime_*; do
    [[ -e /proc/${clock##*_} ]] || rm -f "$clock"
  done
}

mount_disk() { # SERVER
  mkdir -p "$dir/$1/data"
  mount -t tmpfs -o "size=4g,mode=700,uid=$(id -u postgres 2>/dev/null || id -u nobody)" none "$dir/$1/data"
}

# The library reads the file anew each second, not each time: it allocates memory for that, also in a signal's handler,
# where PostgreSQL then crashes now and then. It is told that conditions that wait by the monotonic clock are in order: with
# its mend of a defect of old C libraries they do not wait at all, and each idle thread of a process keeps a processor busy.
start_server() { # SERVER
  local clock=()
  if [[ -n $CLOCK_LIBRARY ]]; then
    clock=("LD_PRELOAD=$CLOCK_LIBRARY" "FAKETIME_TIMESTAMP_FILE=$dir/clock.$1" FAKETIME_CACHE_DURATION=1
      FAKETIME_DONT_FAKE_MONOTONIC=1 FAKETIME_FORCE_MONOTONIC_FIX=0)
  fi
  env "${clock[@]}" "$pg" start "$dir/$1" max_connections=130 max_prepared_transactions=20 shared_buffers=64MB \
    autovacuum_naptime=5s max_wal_size=128MB >>"$dir/start.log" 2>&1 || { cat "$dir/start.log"; exit 2; }
}

cleanup() {
  [[ -z $driver ]] || kill -KILL "$driver" 2>/dev/null
  if [[ $status != 0 && -e $dir/source/data/postmaster.pid ]]; then
    "$("$pg" bin)/pg_dump" -h "$dir/source" -p 5432 -U postgres -n rowrelay -f "$dir/source.sql" work
  fi
  for server in source target; do
    [[ ! -e $dir/$server/log ]] || cp "$dir/$server/log" "$dir/$server.log"
  done
  for server in source target; do
    "$pg" stop "$dir/$server" immediate
    umount "$dir/$server/data" 2>/dev/null && rm -rf "${dir:?}/$server"
    "$pg" remove "$dir/$server"
  done
  tests/support/redis.sh remove "$dir/redis"
  forget_clocks
  if [[ $status == 0 && -z ${KEEP:-} ]]; then rm -rf "$dir"; else echo "chaos: histories and logs are in $dir"; fi
}
trap cleanup EXIT
trap 'exit 130' INT TERM HUP

if [[ -n ${PLANT:-} ]]; then
  program=$(tests/chaos/plant.sh "$build" "$PLANT") || exit 2
fi
echo "chaos: seed $seed; again: make chaos SEED=$seed MINUTES=$minutes${PLANT:+ PLANT=$PLANT}${FAULT:+ FAULT=$FAULT}"

seconds=$(awk -v minutes="$minutes" 'BEGIN { print minutes * 60 }')
export CLOCK_LIBRARY='' SOURCE_OFFSET=0 ALL=${ALL:-}
if [[ -n $has_disks && -z ${OWN_MOUNTS:-} ]]; then echo 'chaos: without full disks: no file system can be mounted'; fi
if [[ -n $has_clocks ]]; then
  CLOCK_LIBRARY=$(find /usr/lib/*/faketime/libfaketimeMT.so.1 2>/dev/null | head -n 1)
  [[ -n $CLOCK_LIBRARY ]] || echo 'chaos: without clocks that jump: libfaketime is not installed'
fi
if [[ -n $CLOCK_LIBRARY ]]; then
  SOURCE_OFFSET=$(awk -v now="$(date +%s)" -v run="$seconds" 'BEGIN { print int(-86400 - now % 86400 - run / 2) }')
  printf '%+d\n' "$SOURCE_OFFSET" >"$dir/clock.source"
  printf '+0\n' >"$dir/clock.target"
fi
for server in source target; do
  if [[ -n $has_disks && -n ${OWN_MOUNTS:-} ]]; then mount_disk "$server"; fi
  start_server "$server"
done
export STREAM=''
libraries=$(ldd "$program") # not in a pipe to grep -q, which may end first
if [[ $libraries == *libhiredis* ]] && redis=$(tests/support/redis.sh start "$dir/redis" 2>>"$dir/start.log"); then
  STREAM=redis://$redis/changes
else
  echo 'chaos: without a stream: no Redis server can be had, or rowrelay was built without hiredis'
fi

started=$SECONDS
"$build/chaos" "$dir" "$PWD" "$program" "$seed" "$seconds" ${FAULT:+"$FAULT"} >"$dir/run.log" 2>&1 &
driver=$!
wait "$driver"
driven=$?
driver=
CLOCK_LIBRARY=''
if [[ $driven != 0 ]]; then
  tail -n 5 "$dir/run.log"
  echo "chaos: the run ended with $driven; see $dir/run.log"
  exit 1
fi
"$build/chaos-check" "$dir" | tee "$dir/check.log"
status=${PIPESTATUS[0]}
if [[ -n ${JUDGE:-} ]]; then
  tests/chaos/judge.sh "$build" "$dir" | tee "$dir/judge.log"
  [[ ${PIPESTATUS[0]} == 0 ]] || status=1
fi
echo "chaos: seed $seed, $((SECONDS - started)) s, $(grep -c -v 'is over after' "$dir/run.log") faults"
[[ $status == 0 ]]
