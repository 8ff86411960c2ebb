#!/usr/bin/env bash
# Checks the models in this folder: each as it stands must have no error in any of its states, and each safeguard that its
# opening comment says can be left out (-DNO_FENCE …) must be missed, or the model would prove nothing. Prints a line for
# each, and fails if one is not as it must be. Without spin it says that it is skipped.
#
#   tests/model/check.sh [MODEL…]    all of them, or some: tests/model/check.sh floor copy
#   tests/model/check.sh --changed   those that changed within a day, and one when this script did
set -uo pipefail
cd "$(dirname "$0")" || exit 1

export LIMIT=120 # seconds of a processor for one search, whatever else runs; the longest takes some 10
if ! command -v spin >/dev/null || ! command -v gcc >/dev/null; then
  echo "[SKIP] model: spin or gcc is not installed"
  exit 0
fi
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export dir

# check MODEL [FLAG]
check() {
  local model=$1 flag=${2:-} work=$dir/$1${2:-} errors
  mkdir "$work"
  if ! (cd "$work" && spin -a ${flag:+"$flag"} "$OLDPWD/$model.pml" && gcc -w -O1 -DSAFETY -DCOLLAPSE -o pan pan.c) \
    >"$work/built" 2>&1; then
    echo "[FAIL] model::$model $flag: it cannot be built"
    cat "$work/built"
    return 1
  fi
  # -E: that a process waits at the end is no error; each model says itself what must hold then
  (cd "$work" && ulimit -t "$LIMIT" && ./pan -E -m1000000 >found 2>&1)
  errors=$(sed -n 's/.*errors: \([0-9]*\)$/\1/p' "$work/found")
  if [[ -z $errors ]] || grep -aqE 'max search depth too small|Search not completed.*memory|out of memory' "$work/found"; then
    echo "[FAIL] model::$model $flag: the search did not end"
  elif [[ -z $flag && $errors != 0 ]]; then
    echo "[FAIL] model::$model has an error: $(grep -a '^pan:1' "$work/found")"
  elif [[ -n $flag && $errors == 0 ]]; then
    echo "[FAIL] model::$model $flag: nothing shows that it is needed"
  elif [[ -z $flag ]]; then
    echo "[PASS] model::$model has no error in $(sed -n 's/^ *\([0-9]*\) states, stored.*/\1/p' "$work/found") states"
    return 0
  else
    echo "[PASS] model::$model $flag is missed"
    return 0
  fi
  return 1
}
export -f check

if [[ ${1:-} == --changed ]]; then
  mapfile -t models < <(../support/changed.sh models)
  ((${#models[@]})) || exit 0
  set -- "${models[@]}"
elif [[ $# == 0 ]]; then
  set -- *.pml
  set -- "${@%.pml}"
fi
for model; do
  echo "$model"
  sed '/\*\//q' "$model.pml" | grep -o -- '-D[A-Z_]*' | sed "s/^/$model /"
done | xargs -P "$(nproc)" -L 1 bash -c 'check "$@"' check
