#!/usr/bin/env bash
# Checks that no include of replicator/ leads to a higher layer: a folder may include itself, and folders of the lines
# above its own. Prints each include that breaks this, and fails.
set -euo pipefail
cd "$(dirname "$0")/../replicator"

layers='common
postgres http terminal
source
queue cli
targets
delivery
backfill
verify history monitor doctor setup
process
cmd
main.c'

declare -A layer
n=0
while read -r folders; do
  n=$((n + 1))
  for folder in $folders; do layer[$folder]=$n; done
done <<<"$layers"

wrong=0
while IFS=: read -r file include; do
  from=${file%%/*}
  to=${include#*\"}
  to=${to%\"*}
  [[ $to == */* ]] || continue # made by the build
  to=${to%%/*}
  [[ $from != "$to" ]] || continue
  if [[ -z ${layer[$from]:-} || -z ${layer[$to]:-} ]]; then
    echo "$file: folder $from or $to is in no layer of tests/layers.sh"
    wrong=1
  elif ((layer[$to] >= layer[$from])); then
    echo "$file includes $to, which is not below $from"
    wrong=1
  fi
done < <(grep -r --include='*.[ch]' '^#include "' . | sed 's,^\./,,')
exit $wrong
