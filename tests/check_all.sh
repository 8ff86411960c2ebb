#!/usr/bin/env bash
# What `make check-all` runs: all that `make check` leaves out, part by part, with one line for each part and one for all. The whole
# takes less than three hours on two cores. build/check-all has what each part said. Exit status 1 when a part failed.
#
#   tests/check_all.sh [PART…]    all parts, or some
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1

logs=build/check-all
mkdir -p "$logs"
passed=0 failed=0 skipped=0
parts=("$@")

# Behaviour that depends on the server's version.
VERSION_SUITES='capture|capture_options|capture_partitions|inheritance|keys|types|encoding|rights|roles|install|queries|upgrade|ddl|altered|added|retyped|native|statements|interleaving|transactions|backfill|copy|verify|documents|log|as_of|undo|itself|failover'

number() { sed -nE "s/.*\b([0-9]+) $1.*/\1/p" <<<"$2"; }

# part NAME MINUTES COMMAND…: one that says nothing of its tests is one test.
part() {
  local name=$1 minutes=$2 log=$logs/${1// /-}.log began=$SECONDS status summary
  shift 2
  if ((${#parts[@]})) && [[ " ${parts[*]} " != *" $name "* ]]; then return; fi
  timeout --kill-after=60 "${minutes}m" "$@" >"$log" 2>&1 </dev/null
  status=$?
  summary=$(grep -aE '^[0-9]+ passed, [0-9]+ failed' "$log" | tail -n 1)
  if [[ -z $summary ]]; then
    if [[ $status == 0 ]]; then summary='1 passed, 0 failed'; else summary='0 passed, 1 failed'; fi
  elif [[ $status != 0 && $summary == *' 0 failed'* ]]; then
    summary=${summary/ 0 failed/ 1 failed}
  fi
  [[ $status != 124 ]] || summary+=" (it did not end within $minutes minutes)"
  echo "$name: $summary, $((SECONDS - began)) s"
  [[ $status == 0 ]] || grep -aE '^(\[FAIL\]|lint:|make: \*\*\*|.*: error)' "$log" | sort -u | head -n 20 | sed 's/^/  /'
  passed=$((passed + $(number passed "$summary"))) failed=$((failed + $(number failed "$summary")))
  skipped=$((skipped + $(number skipped "$summary") + 0))
}

part build 15 make all tests native-if-possible
part lint 15 make lint
part tests 60 env COVER=all THOROUGH=1 LIMIT=900 tests/check.sh build build/rowrelay
part models 10 tests/model/check.sh
part native 20 env NATIVE=1 tests/check.sh build build/rowrelay
part sanitizers 45 make check SANITIZE=address,undefined COVER=quick
part threads 20 make check SANITIZE=thread SUITE='delivery|document|lease|order|refusal|transactions|verify|webhook|hold|outage'
part matrix 60 env SUITE="$VERSION_SUITES" tests/matrix.sh build build/rowrelay
part houses 45 tests/houses/check.sh build/rowrelay
# Publications have more options there.
servers=build/servers
if [[ -w /var/cache ]]; then servers=/var/cache/rowrelay-test-servers; fi
if newest=$(tests/support/servers.sh bin 19 "$servers" 2>/dev/null); then
  part replication 20 env SOURCE_BIN="$newest" TARGET_BIN="$newest" tests/houses/check.sh build/rowrelay native_publisher native_subscriber
fi
part chaos 15 make chaos MINUTES=5
part faults 20 make faults LIMIT=600
part package 20 make check-package
part fuzz 25 make fuzz SECONDS=60

echo "$passed passed, $failed failed, $skipped skipped"
[[ $failed == 0 && $passed -gt 0 ]]
