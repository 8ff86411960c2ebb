#!/usr/bin/env bash
# A run: servers of its own, writers, faults, peace, and the checker. Says the seed first and how to repeat it, and ends
# with exit status 1 when the checker finds a violation; then the directory of the run stays.
#
#   chaos.sh BUILD PROGRAM    SEED=number (default: a new one), MINUTES=number (default: 2), FAULT=name for that one only,
#                             PLANT=name for a program with a safeguard taken out (plants/), KEEP=1 keeps the directory
set -uo pipefail
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
status=1

cleanup() {
  [[ -z $driver ]] || kill -KILL "$driver" 2>/dev/null
  if [[ $status != 0 && -e $dir/source/data/postmaster.pid ]]; then
    "$("$pg" bin)/pg_dump" -h "$dir/source" -p 5432 -U postgres -n rowrelay -f "$dir/source.sql" work
  fi
  for server in source target; do
    [[ ! -e $dir/$server/log ]] || cp "$dir/$server/log" "$dir/$server.log"
  done
  "$pg" remove "$dir/source"
  "$pg" remove "$dir/target"
  if [[ $status == 0 && -z ${KEEP:-} ]]; then rm -rf "$dir"; else echo "chaos: histories and logs are in $dir"; fi
}
trap cleanup EXIT
trap 'exit 130' INT TERM HUP

if [[ -n ${PLANT:-} ]]; then
  program=$(tests/chaos/plant.sh "$build" "$PLANT") || exit 2
fi
echo "chaos: seed $seed; again: make chaos SEED=$seed MINUTES=$minutes${PLANT:+ PLANT=$PLANT}${FAULT:+ FAULT=$FAULT}"

for server in source target; do
  "$pg" start "$dir/$server" max_connections=130 max_prepared_transactions=20 shared_buffers=64MB \
    autovacuum_naptime=5s >>"$dir/start.log" 2>&1 || { cat "$dir/start.log"; exit 2; }
done

seconds=$(awk -v minutes="$minutes" 'BEGIN { print minutes * 60 }')
started=$SECONDS
"$build/chaos" "$dir" "$PWD" "$program" "$seed" "$seconds" ${FAULT:+"$FAULT"} >"$dir/run.log" 2>&1 &
driver=$!
wait "$driver"
driven=$?
driver=
if [[ $driven != 0 ]]; then
  tail -n 5 "$dir/run.log"
  echo "chaos: the run ended with $driven; see $dir/run.log"
  exit 1
fi
"$build/chaos-check" "$dir" | tee "$dir/check.log"
status=${PIPESTATUS[0]}
echo "chaos: seed $seed, $((SECONDS - started)) s, $(grep -c -v 'is over after' "$dir/run.log") faults"
[[ $status == 0 ]]
