#!/usr/bin/env bash
# Checks that no include of replicator/ runs up: a folder may include what stands in a line before its own, and itself.
# Prints each include that does, and fails.
set -euo pipefail
cd "$(dirname "$0")/../replicator"

floors='common
postgres http terminal
source
queue cli
targets
delivery
backfill
verify history monitor
process
cmd
main.c'

declare -A floor
n=0
while read -r folders; do
  n=$((n + 1))
  for folder in $folders; do floor[$folder]=$n; done
done <<<"$floors"

wrong=0
while IFS=: read -r file include; do
  from=${file%%/*}
  to=${include#*\"}
  to=${to%\"*}
  [[ $to == */* ]] || continue # made by the build
  to=${to%%/*}
  [[ $from != "$to" ]] || continue
  if [[ -z ${floor[$from]:-} || -z ${floor[$to]:-} ]]; then
    echo "$file: folder $from or $to has no floor in tests/floors.sh"
    wrong=1
  elif ((floor[$to] >= floor[$from])); then
    echo "$file includes $to, which does not stand below $from"
    wrong=1
  fi
done < <(grep -r --include='*.[ch]' '^#include "' . | sed 's,^\./,,')
exit $wrong
