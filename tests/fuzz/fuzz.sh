#!/usr/bin/env bash
# Builds the harnesses of this directory, and lets each run for its part of the time with the inputs of corpus/ and with
# what becomes of them. Says the seed first; exit status 1 when one breaks, whose input then stays in build/fuzz.
#
#   fuzz.sh SECONDS    in all; SEED=number, HARNESS="name…" runs only those, INPUT=file gives that one to them and nothing else
#
# With clang's libFuzzer where there is one (Debian: clang); else with driver.c, which sees less.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1

seconds=$1
seed=${SEED:-$((RANDOM << 15 | RANDOM))}
build=build/fuzz
checks=address,undefined
# shellcheck disable=SC2206,SC2207 # words without spaces
harnesses=(${HARNESS:-$(basename -s .c tests/fuzz/*.c | grep -v '^driver$')})

find_clang() {
  local clang
  for clang in clang clang-{22..14}; do
    if echo 'int LLVMFuzzerTestOneInput(void) { return 0; }' |
      "$clang" -fsanitize=fuzzer -x c - -o /dev/null 2>/dev/null; then
      echo "$clang"
      return
    fi
  done
}

clang=$(find_clang)
programs=("${harnesses[@]/#/$build/fuzz-}")
settings=("BUILD=$build" WERROR= "SANITIZER=-fsanitize=$checks -fno-sanitize-recover=all -fno-omit-frame-pointer")
if [[ -n $clang ]]; then
  settings+=("CC=$clang" FUZZ_MAIN=-fsanitize=fuzzer)
  settings[2]+=' -fsanitize=fuzzer-no-link'
fi
make --no-print-directory -s "${settings[@]}" "${programs[@]}" >"$build.log" 2>&1 || { cat "$build.log"; exit 2; }

# What is in a harness and in the program (of a file that it includes) is meant to be there twice.
export ASAN_OPTIONS=detect_odr_violation=0:detect_leaks=1 UBSAN_OPTIONS=print_stacktrace=1
echo "fuzz: seed $seed, with ${clang:-tests/fuzz/driver.c}; again: make fuzz SECONDS=$seconds SEED=$seed"
each=$((seconds / ${#harnesses[@]} > 0 ? seconds / ${#harnesses[@]} : 1))
broken=0
for name in "${harnesses[@]}"; do
  mkdir -p "$build/found/$name"
  given=("-max_total_time=$each" "-seed=$((seed % 2147483647 + 1))" "$build/found/$name" "tests/fuzz/corpus/$name")
  [[ -z ${INPUT:-} ]] || given=("$(realpath "$INPUT")")
  program=$(realpath "$build/fuzz-$name")
  [[ -n ${INPUT:-} ]] || given[2]=$(realpath "${given[2]}") given[3]=$(realpath "${given[3]}")
  if (cd "$build" && "$program" -max_len=4096 -timeout=20 -rss_limit_mb=4096 -artifact_prefix="$name-" "${given[@]}") \
    >"$build/$name.log" 2>&1; then
    echo "fuzz: $name: $(grep -a -m 1 -o 'Done [0-9]* runs' "$build/$name.log")"
  else
    broken=$((broken + 1))
    echo "fuzz: $name: broken; see $build/$name.log"
    grep -a -E -m 3 'broken: |ERROR: |runtime error|SUMMARY' "$build/$name.log"
    grep -a -o -m 1 "$name-[a-z]*-[0-9a-f]*" "$build/$name.log" | sed "s,.*,again: make fuzz HARNESS=$name INPUT=$build/&,"
  fi
done
[[ $broken == 0 ]]
