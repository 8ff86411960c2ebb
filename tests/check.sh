#!/usr/bin/env bash
# Runs the tests that `make check` has built in BUILD, on PROGRAM, and ends with one line: "N passed, N failed", and
# ", N skipped" if any were. Exit status 1 when a test failed, crashed or took too long, or when none ran.
#
#   tests/check.sh BUILD PROGRAM    TEST=pattern (of a test's name, or suite/name) or SUITE=name runs only those
#
# Unit tests need nothing. Integration tests get a source and a target server of their own, and find them by
# ROWRELAY_TEST_SOURCE and ROWRELAY_TEST_TARGET (conninfo of a superuser; ROWRELAY_TEST_SOURCE_DIR and …_TARGET_DIR are
# what tests/support/pg.sh calls DIR), and the program by ROWRELAY_BIN. JOBS=N runs N tests at a time (two for each
# processor, at most four, when it is not set: they wait more than they work). SOURCE_BIN and TARGET_BIN name the
# directories of other PostgreSQL servers than the newest that is installed. NATIVE=1 has the source capture by the server
# module, which `make native` has built; NATIVE_TOO=1 runs some suites once more so; NATIVE_SO names the module for the server
# in SOURCE_BIN (make native PG_CONFIG=… BUILD=…). SANITIZED names a build with sanitizers, of which the unit tests and the
# suites below are run at the end. MODELS_TOO=1 also checks the models of tests/model, and
# the checker of chaos. CHAOS=minutes lets chaos happen for so long (tests/chaos). FAULTS=1 lets calls fail for a minute
# (tests/faults). LONGEST=seconds is for tests that take longer than five minutes.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1

build=$(realpath "$1")
export ROWRELAY_BIN
ROWRELAY_BIN=$(realpath "$2")
pg=$PWD/tests/support/pg.sh
dir=$(mktemp -d /tmp/rowrelay-check-XXXXXX) # a socket's path must be short
chmod 755 "$dir"                            # the servers run as another user when we are root
servers=()
running=
passed=0 failed=0 skipped=0

# What failed, and why, once more: it stands far above the last line.
repeat_failures() {
  grep -a -E '^\[(FAIL|----)\]' "$log_file" | grep -a -v -E '^\[----\] *(Criterion v.*)?$' >>"$dir/failures"
}

# What libfaketime leaves of a killed process keeps another user's process that gets its number from beginning.
remove_clocks() {
  local clock
  for clock in /dev/shm/*faketime_*; do
    [[ -e /proc/${clock##*_} ]] || rm -f "$clock"
  done
}

cleanup() {
  local server
  [[ -z $running ]] || kill -KILL -- "-$running" 2>/dev/null
  for server in "${servers[@]}"; do "$pg" remove "$server"; done
  tests/support/opensearch.sh remove "$dir/opensearch.sh" # which the first test that needs it starts
  tests/support/kafka.sh remove "$dir/kafka.sh" # the same
  tests/support/redis.sh remove "$dir/redis.sh"
  tests/support/nats.sh remove "$dir/nats.sh"
  tests/support/rabbit.sh remove "$dir/rabbit.sh"
  remove_clocks
  rm -rf "$dir"
}
trap cleanup EXIT
trap 'exit 130' INT TERM HUP

remove_clocks
jobs=${JOBS:-$(($(nproc) > 1 ? 4 : 2))}
filter=()
if [[ -n ${TEST:-} ]]; then
  if [[ $TEST == */* ]]; then filter=(--filter "$TEST"); else filter=(--filter "*/$TEST"); fi
elif [[ -n ${SUITE:-} ]]; then
  filter=(--filter "$SUITE/*")
fi

# Those that look at what is captured most closely.
CAPTURING_SUITES='@(capture|encoding|hostile|interleaving|keys|nesting|order|rights|types|undo)'

# Those where most of the program's memory and threads are at work.
SANITIZED_SUITES='@(delivery|document|lease|order|refusal|search_wire|transactions|verify|webhook)'

collect_sanitizer_reports() {
  # A leak does not change a test's exit status; a report in a file cannot be overlooked.
  mkdir "$dir/reports"
  chmod 777 "$dir/reports"
  log=log_path=$dir/reports/report
  export ASAN_OPTIONS=$log:detect_leaks=1:${ASAN_OPTIONS:-}
  export UBSAN_OPTIONS=$log:print_stacktrace=1:${UBSAN_OPTIONS:-}
  # gcc 12's does not know pthread_clockjoin_np(), by which these threads end, and takes them for forgotten.
  echo 'thread:pgconn_cancel' >"$dir/thread-suppressions"
  export TSAN_OPTIONS=$log:suppressions=$dir/thread-suppressions:print_suppressions=0:${TSAN_OPTIONS:-}
  echo 'leak:libcriterion' >"$dir/suppressions" # it forgets what it has of a test that is skipped
  export LSAN_OPTIONS=suppressions=$dir/suppressions:print_suppressions=0
}
[[ -z ${SANITIZE:-} ]] || collect_sanitizer_reports

# The number that stands behind a word in Criterion's last line; nothing where that line is missing.
count() { sed -n "s/.*Synthesis:.* $1: \([0-9]*\).*/\1/p" "$log_file"; }

# Criterion calls "disabled" what the filter leaves out.
without_filtered() { grep -a --line-buffered -v ': Test is disabled$'; }

# run BINARY SECONDS SECONDS_EACH
run() {
  local name status
  name=$(basename "$1")
  log_file=$dir/$name.log
  : >"$log_file"
  # timeout leads a process group of its own, so whatever a test leaves running is ended by that.
  timeout --kill-after=10 "$2" "$1" --verbose --jobs "$jobs" --timeout "$3" --color=never "${filter[@]}" \
    >"$log_file" 2>&1 &
  running=$!
  tail -s 0.1 --pid="$running" -n +1 -f "$log_file" | without_filtered
  wait "$running"
  status=$?
  kill -KILL -- "-$running" 2>/dev/null
  running=
  if [[ $status != 0 ]]; then repeat_failures; fi
  passed=$((passed + $(count Passing) + 0))
  failed=$((failed + $(count Failing) + 0))
  skipped=$((skipped + $(without_filtered <"$log_file" | grep -c '^\[SKIP\]')))
  if [[ $status == 124 || $status == 137 ]]; then
    echo "$name: did not end within $2 seconds"
    failed=$((failed + 1))
  elif [[ -z $(count Tested) || $status != 0 && $(count Failing) == 0 ]]; then
    echo "$name: exit status $status"
    failed=$((failed + 1))
  fi
}

start_server() { # VARIABLE DIR BIN
  servers+=("$2")
  local conninfo
  conninfo=$(PG_BIN=$3 "$pg" start "$2") || { echo "cannot start a server"; exit 1; }
  export "$1=$conninfo" "$1_DIR=$2"
}

# The SQL of the module's language, where there is a module for this server.
native_sql=
if [[ -n ${NATIVE_SO:-} || -z ${SOURCE_BIN:-} && -e build/native/rowrelay_native.so ]]; then
  native_sql=$(tests/support/native.sh "$dir")
  export ROWRELAY_TEST_NATIVE=$dir/rowrelay_native.so
fi

# From now on every new database has the language, so that all tables that can be are captured natively.
capture_natively() {
  [[ -n $native_sql ]] || { echo "there is no server module for this server: make native"; exit 1; }
  "$("$pg" bin)/psql" -qX -v ON_ERROR_STOP=1 "$ROWRELAY_TEST_SOURCE dbname=template1" <<<"$native_sql" || exit 1
}

# The models of tests/model, in the same count.
run_models() {
  log_file=$dir/models.log
  tests/model/check.sh 2>&1 | tee "$log_file"
  if grep -q '^\[FAIL\]' "$log_file"; then repeat_failures; fi
  passed=$((passed + $(grep -c '^\[PASS\]' "$log_file")))
  failed=$((failed + $(grep -c '^\[FAIL\]' "$log_file")))
  skipped=$((skipped + $(grep -c '^\[SKIP\]' "$log_file")))
}

if [[ -x $build/test-unit ]]; then run "$build/test-unit" 60 20; fi
[[ -z ${MODELS_TOO:-} ]] || run_models
if [[ -x $build/test-integration ]]; then
  start_server ROWRELAY_TEST_SOURCE "$dir/source" "${SOURCE_BIN:-}"
  start_server ROWRELAY_TEST_TARGET "$dir/target" "${TARGET_BIN:-}"
  [[ -z ${NATIVE:-} ]] || capture_natively
  run "$build/test-integration" "${LONGEST:-3000}" "${LONGEST:-300}"
fi

if [[ -n ${NATIVE_TOO:-} && -n $native_sql ]]; then
  echo "---- captured by the server module"
  capture_natively
  filter=(--filter "$CAPTURING_SUITES/*")
  run "$build/test-integration" 1500 300
fi

# Runs a program that is one test, and says itself what failed.
run_program() { # NAME PROGRAM…
  local name=$1
  log_file=$dir/program.log
  shift
  timeout --kill-after=30 900 "$@" 2>&1 | tee "$log_file"
  if [[ ${PIPESTATUS[0]} == 0 ]]; then
    passed=$((passed + 1))
  else
    { echo "[FAIL] $name: its last lines:" && tail -n 20 "$log_file"; } | tee -a "$dir/failures"
    failed=$((failed + 1))
  fi
}

if [[ -n ${MODELS_TOO:-} ]]; then run_program 'the checker of chaos' tests/chaos/check_test.sh "$build/chaos-check"; fi
if [[ -n ${CHAOS:-} ]]; then
  echo "---- chaos"
  MINUTES=$CHAOS run_program 'chaos' tests/chaos/chaos.sh "$build" "$ROWRELAY_BIN"
fi

if [[ -n ${SANITIZED:-} ]]; then
  if [[ -n ${FAULTS:-} ]]; then
    echo "---- with calls that fail"
    LIMIT=75 run_program 'calls that fail' tests/faults/faults.sh "$SANITIZED" "$ROWRELAY_BIN"
  fi
  echo "---- with sanitizers"
  collect_sanitizer_reports
  ROWRELAY_BIN=$(realpath "$SANITIZED/rowrelay")
  filter=(--filter "$SANITIZED_SUITES/*")
  run "$SANITIZED/test-integration" 1500 300
  filter=()
  run "$SANITIZED/test-unit" 120 60
fi

for report in "$dir"/reports/*; do
  [[ -e $report ]] || continue
  echo "sanitizer report:"
  cat "$report"
  failed=$((failed + 1))
done

if [[ $((passed + failed + skipped)) == 0 ]]; then
  echo "no test matches${TEST:+ TEST=$TEST}${SUITE:+ SUITE=$SUITE}"
  failed=1
fi
[[ ! -e $dir/failures ]] || { echo "---- what failed:" && cat "$dir/failures"; }
summary="$passed passed, $failed failed"
[[ $skipped == 0 ]] || summary+=", $skipped skipped"
echo "$summary"
[[ $failed == 0 ]]
