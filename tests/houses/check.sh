#!/usr/bin/env bash
# Runs rowrelay in real houses, one script for each neighbour, with a line for each, and ends with "N passed, N failed,
# N skipped". Exit status 1 when one failed.
#
#   tests/houses/check.sh PROGRAM [HOUSE…]    all, or some: tests/houses/check.sh build/rowrelay slony
#
# SOURCE_BIN and TARGET_BIN are directories of other PostgreSQL servers than the newest. LIMIT=SECONDS for one house (900).
set -uo pipefail
ROWRELAY_BIN=$(realpath "$1")
export ROWRELAY_BIN
shift
cd "$(dirname "$0")" || exit 1
if [[ $# == 0 ]]; then # what is not executable is sourced by others
  for script in *.sh; do
    if [[ -x $script && $script != check.sh ]]; then set -- "$@" "${script%.sh}"; fi
  done
fi
log=$(mktemp)
trap 'rm -f "$log"' EXIT
passed=0 failed=0 skipped=0
for house; do
  began=$SECONDS
  timeout --kill-after=30 "${LIMIT:-900}" "./$house.sh" >"$log" 2>&1 </dev/null
  case $? in
    0) echo "[PASS] houses::$house ($((SECONDS - began)) s)"; passed=$((passed + 1)) ;;
    77) echo "[SKIP] houses::$house: $(tail -n 1 "$log")"; skipped=$((skipped + 1)) ;;
    *) echo "[FAIL] houses::$house ($((SECONDS - began)) s):"; tail -n 40 "$log"; failed=$((failed + 1)) ;;
  esac
done
summary="$passed passed, $failed failed"
[[ $skipped == 0 ]] || summary+=", $skipped skipped"
echo "$summary"
[[ $failed == 0 && $((passed + skipped)) -gt 0 ]]
