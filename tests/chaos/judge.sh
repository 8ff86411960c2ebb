#!/usr/bin/env bash
# Has porcupine, a checker that others wrote, judge the histories of a run: judge/main.go. Where Go or porcupine cannot be
# had, it says that it is left out, and that is no failure.
#
#   judge.sh BUILD DIR    DIR is that of the run
set -uo pipefail
cd "$(dirname "$0")/judge" || exit 1

build=$1
if ! command -v go >/dev/null; then
  echo 'chaos: without porcupine: go is not installed'
  exit 0
fi
if ! said=$(go build -o "$build/chaos-judge" . 2>&1); then
  if grep -qE 'dial tcp|lookup|no such host|i/o timeout|connection refused|disabled by GOPROXY|403|404|502|503' <<<"$said"; then
    echo 'chaos: without porcupine: its module cannot be had'
    exit 0
  fi
  echo "$said"
  exit 2
fi
../judge_test.sh "$build/chaos-judge" && "$build/chaos-judge" "$2"
