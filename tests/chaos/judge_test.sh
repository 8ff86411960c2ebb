#!/usr/bin/env bash
# Shows that porcupine's judgement finds each class of violation, and nothing in a history without one. As check_test.sh
# does of the checker.
#
#   judge_test.sh JUDGE    the program chaos-judge
# shellcheck disable=SC2016 # $ is sed's
set -uo pipefail

judge=$(realpath "$1")
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
wrong=0

good() {
  rm -rf "${dir:?}"/*
  # table key n op mark token optional
  cat >"$dir/truth" <<'TRUTH'
churn 1 1 i 1 w1.1 f
churn 1 2 u 2 w1.2 f
churn 1 3 d 2 w1.3 f
churn 1 4 i 4 w1.4 f
churn 1 5 t 0 w2.5.1 f
churn 1 6 i 6 w2.6 f
list 1 1 i 1 w2.1 f
list 1 2 u 2 w2.2 f
list 1 3 u 3 w2.3 t
list 1 4 u 4 w2.3! f
TRUTH
  # began ended token…
  printf '%s\n' '1.0 1.1 w1.1 w1.2' '2.0 2.1 w1.3' '3.0 3.1 w1.4' >"$dir/times.1"
  printf '%s\n' '1.0 1.1 w2.1' '2.0 2.1 w2.2 w2.3' '4.0 4.1 w2.5.1' '5.0 5.1 w2.6' >"$dir/times.2"
  echo 'm rows churn list' >"$dir/targets"
  echo 'a events exactly-once' >>"$dir/targets"
  # of ledger nothing is promised
  printf '%s\n' 'churn 1 6 w2.6' 'list 1 4 w2.1,w2.2,w2.3' 'ledger w1.9 1 x' >"$dir/m.rows"
  printf '%s\n' 'list 1 1 1.2 1.3' 'churn 1 2 1.2 1.3' 'list 1 4 2.05 2.2' 'churn 1 0 2.3 2.4' 'churn 1 4 3.2 3.3' \
    'churn 1 0 4.2 4.3' 'churn 1 6 5.2 5.3' >"$dir/m.watched"
  : >"$dir/given-up"
}

# plant WHAT FILE SED FOUND
plant() {
  local said
  good
  sed -i -e "$3" "$dir/$2"
  said=$("$judge" "$dir")
  if ! grep -q -- "^makes no sense: m: $4" <<<"$said"; then
    echo "judge_test: $1: porcupine does not mind: $said"
    wrong=1
  fi
}

good
if ! said=$("$judge" "$dir"); then
  echo "judge_test: a good history: $said"
  wrong=1
fi
plant 'a row is missing' m.rows '/^list/d' 'list 1'
plant 'a row is old' m.rows 's/^list 1 4/list 1 3/' 'list 1'
plant 'a row is back' m.rows '$a churn 2 1 x' 'churn 2'
plant 'a row was never written' m.rows 's/^churn 1 6/churn 1 7/' 'churn 1'
plant 'readers saw an older row' m.watched '$a list 1 2 6 6.1' 'list 1'
plant 'readers saw a deleted row again' m.watched '/churn 1 0 2.3/a churn 1 2 2.5 2.6' 'churn 1'
plant 'readers saw a row before it was written' m.watched 's/^churn 1 4 3.2 3.3/churn 1 4 2.5 2.6/' 'churn 1'
plant 'readers saw no row between two versions' m.watched '/list 1 1/a list 1 0 1.4 1.5' 'list 1'

exit $wrong
