#!/usr/bin/env bash
# Runs the tests that `make check` has built in BUILD, on PROGRAM, and ends with one line: "N passed, N failed", and
# ", N skipped" if any were. Exit status 1 when a test failed, crashed or took too long, or when none ran.
#
#   tests/check.sh BUILD PROGRAM    TEST='a|b' (patterns of a test's name, or suite/name) or SUITE='a|b' runs only those
#
# Unit tests need nothing. Integration tests get a source and a target server of their own, and find them by
# ROWRELAY_TEST_SOURCE and ROWRELAY_TEST_TARGET (conninfo of a superuser; ROWRELAY_TEST_SOURCE_DIR and …_TARGET_DIR are
# what tests/support/pg.sh calls DIR), and the program by ROWRELAY_BIN. In the source is database rowrelay_fresh, in which
# rowrelay is installed: fixture_begin() copies it.
#
#   JOBS=N             N tests at a time (two for each processor, at most four, when it is not set)
#   COVER=quick        leaves out what tests/thorough lists; COVER=thorough runs only that
#   THOROUGH=1         runs whole families; otherwise a third of some, by ROWRELAY_SEED, which is printed
#   LIMIT=SECONDS      how long a test may take (300)
#   SOURCE_BIN, TARGET_BIN    directories of other PostgreSQL servers than the newest that is installed
#   NATIVE=1           the source captures by the server module, which `make native` has built; NATIVE_SO names the module for
#                      the server in SOURCE_BIN (make native PG_CONFIG=… BUILD=…)
#   SANITIZED=BUILD    a build with sanitizers: unit tests and some suites run with that instead
#   BESIDE='a;b'       commands that run beside the tests, with the lowest priority
#   CHAOS=MINUTES      lets chaos happen for so long (tests/chaos)
#   FAULTS=1           lets calls fail for a minute (tests/faults)
#   CLOCK=FILE         has lines "SECONDS STEP" of what `make` has done before; all steps are printed at the end
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1

build=$(realpath "$1")
export ROWRELAY_BIN
ROWRELAY_BIN=$(realpath "$2")
pg=$PWD/tests/support/pg.sh
# In memory where there is plenty: databases are made and dropped all the time. A socket's path must be short.
place=/tmp
if [[ -w /dev/shm && $(df -k --output=avail /dev/shm | tail -n 1) -gt 8000000 ]]; then place=/dev/shm; fi
dir=$(mktemp -d $place/rowrelay-check-XXXXXX)
chmod 755 "$dir" # the servers run as another user when we are root
servers=()
passed=0 failed=0 skipped=0
jobs=${JOBS:-$(($(nproc) > 1 ? 4 : 2))}
limit=${LIMIT:-300}
export ROWRELAY_SEED=${ROWRELAY_SEED:-$RANDOM} THOROUGH=${THOROUGH:-}
# shellcheck source=tests/support/tests.sh
source tests/support/tests.sh

# What libfaketime leaves of a killed process keeps another user's process that gets its number from beginning.
remove_clocks() {
  local clock
  for clock in /dev/shm/*faketime_*; do
    [[ -e /proc/${clock##*_} ]] || rm -f "$clock"
  done
}

cleanup() {
  local server file pid kind
  for file in "$dir"/logs/*.pid "$dir"/beside/*.pid; do
    read -r pid _ 2>/dev/null <"$file" && kill -KILL -- "-$pid" 2>/dev/null
  done
  for server in "${servers[@]}"; do "$pg" remove "$server"; done
  # what the first test that needs it starts
  for kind in opensearch kafka redis nats rabbit; do "tests/support/$kind.sh" remove "$dir/$kind.sh"; done
  remove_clocks
  rm -rf "$dir"
}
trap cleanup EXIT
trap 'exit 130' INT TERM HUP
remove_clocks

# Those that look at what is captured most closely.
CAPTURING_SUITES='capture|encoding|hostile|interleaving|keys|nesting|order|rights|types|undo'
# Those where most of the program's memory and threads are at work.
SANITIZED_SUITES='delivery|document|lease|order|refusal|search_wire|transactions|verify|webhook'

# step NAME: what follows is called so in the list of steps.
clock=${CLOCK:-$dir/clock}
step=
step() {
  local now=$SECONDS
  [[ -z $step ]] || echo "$((now - step_began)) $step" >>"$clock"
  step=$1 step_began=$now
  [[ -z $step ]] || echo "---- $step"
}

collect_sanitizer_reports() {
  # A leak does not change a test's exit status; a report in a file cannot be overlooked.
  mkdir -p "$dir/reports"
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

start_server() { # VARIABLE DIR BIN
  servers+=("$2")
  local conninfo
  conninfo=$(PG_BIN=$3 "$pg" start "$2") || { echo "cannot start a server"; exit 1; }
  export "$1=$conninfo" "$1_DIR=$2"
}

at_source() { # DATABASE, statements on stdin
  "$("$pg" bin)/psql" -qX -v ON_ERROR_STOP=1 "$ROWRELAY_TEST_SOURCE dbname=$1" >/dev/null
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
  at_source template1 <<<"$native_sql" || exit 1
}

# An installation without what marks it as born here (schema/server.sql), which fixture_begin() adds to each copy.
make_template() {
  cp -r schema triggers "$dir"
  sed -i '/^\\ir server.sql$/d' "$dir/schema/install.sql"
  { echo 'create database rowrelay_fresh' | at_source postgres &&
    # as it is since PostgreSQL 15: where every role may create functions, commands print tables with their schemas
    echo 'revoke create on schema public from public' | at_source rowrelay_fresh &&
    echo "set check_function_bodies = off; \i $dir/schema/install.sql" | at_source rowrelay_fresh &&
    echo 'alter database rowrelay_fresh allow_connections false' | at_source postgres; } ||
    { echo "cannot install rowrelay in the database that tests copy"; exit 1; }
}

# Counts what a program says of its tests, or the program as one test, where it says nothing of any.
count_program() { # NAME STATUS LOG
  local passing failing
  passing=$(grep -c '^\[PASS\]' "$3") failing=$(grep -c '^\[FAIL\]' "$3")
  skipped=$((skipped + $(grep -c '^\[SKIP\]' "$3")))
  if ((passing + failing > 0)); then
    passed=$((passed + passing)) failed=$((failed + failing))
    grep -A 20 '^\[FAIL\]' "$3" >>"$dir/failures"
  elif [[ $2 == 0 ]]; then
    echo "[PASS] $1"
    passed=$((passed + 1))
  else
    { echo "[FAIL] $1: its last lines:" && tail -n 40 "$3"; } | tee -a "$dir/failures"
    failed=$((failed + 1))
  fi
}

run_program() { # NAME PROGRAM…
  local name=$1
  shift
  timeout --kill-after=30 1800 "$@" 2>&1 | tee "$dir/program.log"
  count_program "$name" "${PIPESTATUS[0]}" "$dir/program.log"
}

begin_beside() {
  local number=0 command
  local -a commands
  mkdir "$dir/beside"
  IFS=';' read -ra commands <<<"${BESIDE:-}"
  for command in "${commands[@]}"; do
    # Where the kernel shares processors among sessions, a session of its own needs the lowest priority, too.
    setsid nice -n 19 bash -c "echo 19 2>/dev/null >/proc/self/autogroup; $command" >"$dir/beside/$number.log" 2>&1 &
    echo "$! $command" >"$dir/beside/$number.pid"
    number=$((number + 1))
  done
}

end_beside() {
  local file pid command
  for file in "$dir"/beside/*.pid; do
    read -r pid command 2>/dev/null <"$file" || continue
    wait "$pid"
    set -- $?
    grep -aE '^\[(PASS|SKIP)\]' "${file%.pid}.log"
    count_program "$command" "$1" "${file%.pid}.log"
    rm "$file"
  done
}

# Unit tests take no time: one process runs them all.
run_unit() { # PROGRAM
  local log=$dir/unit.log status
  local -a filter=()
  [[ -z ${TEST:-}${SUITE:-} ]] || filter=(--filter "@(${SUITE:-*})/@(${TEST:-*})")
  timeout --kill-after=10 120 "$1" --verbose --jobs 2 --timeout 60 --color=never "${filter[@]}" >"$log" 2>&1
  status=$?
  said "$log"
  passed=$((passed + $(count Passing "$log")))
  failed=$((failed + $(count Failing "$log")))
  [[ $status != 0 ]] || return 0
  said "$log" | grep -v '^\[PASS\]' | tail -n 100 >>"$dir/failures"
  [[ $(count Failing "$log") != 0 ]] || { echo "$1: exit status $status" | tee -a "$dir/failures"; failed=$((failed + 1)); }
}

[[ -z ${SANITIZE:-}${SANITIZED:-} ]] || collect_sanitizer_reports
begin_beside
step 'unit tests'
unit=${SANITIZED:-$build}/test-unit
if [[ -x $unit && ${COVER:-all} != thorough ]]; then run_unit "$unit"; fi

step 'integration tests'
start_server ROWRELAY_TEST_SOURCE "$dir/source" "${SOURCE_BIN:-}"
start_server ROWRELAY_TEST_TARGET "$dir/target" "${TARGET_BIN:-}"
[[ -z ${NATIVE:-} ]] || { capture_natively; SUITE=${SUITE:-$CAPTURING_SUITES}; }
make_template
run_tests "$build/test-integration"

if [[ -n ${CHAOS:-} ]]; then
  step 'chaos'
  MINUTES=$CHAOS run_program 'chaos' tests/chaos/chaos.sh "$build" "$ROWRELAY_BIN"
fi
if [[ -n ${FAULTS:-} ]]; then
  step 'calls that fail'
  LIMIT=75 run_program 'calls that fail' tests/faults/faults.sh "$SANITIZED" "$ROWRELAY_BIN"
fi
step 'what ran beside the tests'
end_beside
step ''

for report in "$dir"/reports/*; do
  [[ -e $report ]] || continue
  { echo "[FAIL] sanitizer report:" && cat "$report"; } >>"$dir/failures"
  failed=$((failed + 1))
done

if [[ $((passed + failed + skipped)) == 0 ]]; then
  echo "no test matches${TEST:+ TEST=$TEST}${SUITE:+ SUITE=$SUITE}"
  failed=1
fi
show_slowest 40
echo "---- seconds of each step (families by ROWRELAY_SEED=$ROWRELAY_SEED):"
awk '{ printf "%8d  %s\n", $1, substr($0, length($1) + 2); all += $1 } END { printf "%8d  all\n", all }' "$clock"
[[ ! -e $dir/failures ]] || { echo "---- what failed:" && cat "$dir/failures"; }
summary="$passed passed, $failed failed"
[[ $skipped == 0 ]] || summary+=", $skipped skipped"
echo "$summary"
[[ $failed == 0 ]]
