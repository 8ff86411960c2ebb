#!/usr/bin/env bash
# Runs the integration tests on each PostgreSQL from 13 to 19, and with source and target of different versions, and ends
# with a line for each pair and one line for all. What `make check-matrix` runs. Exit status 1 when a test failed.
#
#   tests/matrix.sh BUILD PROGRAM [SOURCE:TARGET…]    TEST=pattern or SUITE=name as for check.sh; 13:19 is one pair
#
# The servers come from npm or Debian, into BUILD/servers. BUILD/matrix has what the tests said.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1

build=$(realpath "$1")
program=$(realpath "$2")
pairs=("${@:3}")
((${#pairs[@]})) || pairs=(13:13 14:14 15:15 16:16 17:17 18:18 19:19 13:19 19:13)
mkdir -p "$build/matrix"
passed=0 failed=0 skipped=0

# Root's servers run as another user, who may not enter a checkout in somebody's home.
servers=$build/servers
mkdir -p "$servers"
if [[ $(id -u) == 0 ]] && ! runuser -u nobody -- test -x "$servers"; then servers=/var/cache/rowrelay-test-servers; fi

bin_of() { tests/support/servers.sh bin "$1" "$servers"; }

number() { sed -nE "s/.*\b([0-9]+) $1.*/\1/p" <<<"$2"; }

for pair in "${pairs[@]}"; do
  printf 'source %s, target %s: ' "${pair%:*}" "${pair#*:}"
  log=$build/matrix/${pair/:/-}.log
  if ! source=$(bin_of "${pair%:*}" 2>"$log") || ! target=$(bin_of "${pair#*:}" 2>>"$log"); then
    echo "skipped: $(tail -n 1 "$log")"
    skipped=$((skipped + 1))
    continue
  fi
  SOURCE_BIN=$source TARGET_BIN=$target tests/check.sh "$build" "$program" >"$log" 2>&1
  summary=$(tail -n 1 "$log")
  echo "$summary"
  grep -a '^\[FAIL\]' "$log" | sed 's/^/  /'
  passed=$((passed + $(number passed "$summary") + 0))
  failed=$((failed + $(number failed "$summary") + 0))
  skipped=$((skipped + $(number skipped "$summary") + 0))
done

echo "$passed passed, $failed failed, $skipped skipped"
[[ $failed == 0 && $passed -gt 0 ]]
