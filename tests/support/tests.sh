# shellcheck shell=bash disable=SC2154 # who sources it says where logs go, and how many tests run at a time
#
# tests.sh: runs the tests of a Criterion program, each in a process of its own: `jobs` at a time, those that were slow
# before first, so that no core waits for a last slow one. A test that failed is run once more, alone. check.sh sources
# this page, makes the directory $dir, and sets jobs and limit (seconds that a test may take).
#
#   run_tests PROGRAM      runs those that are chosen, prints a line for each, and adds to passed, failed and skipped; what each failed
#                          test said, both times, and the logs of its private servers go to $dir/failures
#   show_slowest N         prints the N slowest tests
#
# TEST and SUITE choose by pattern (a|b is one or the other). COVER=quick leaves out what tests/thorough lists (of what it lists with
# "half", each second test, by ROWRELAY_SEED), COVER=thorough runs just that, all else runs both.
#
# $dir/results has a line "SUITE/TEST SECONDS" for each.

thorough=tests/thorough
durations=build/test-durations # of the runs before, in this tree; a fresh one begins with tests/slowest
failures=()                    # "PROGRAM SUITE/TEST"
most_repeated=10               # where more failed, the program is broken and repeating shows nothing

all_tests() { # PROGRAM
  "$1" --list | sed -nE 's/^([[:alnum:]_]+): [0-9]+ tests?$/suite \1/p; s/^[^[:alnum:]_]+([[:alnum:]_]+)$/test \1/p' |
    awk '$1 == "suite" { suite = $2 } $1 == "test" { print suite "/" $2 }'
}

is_thorough() { # SUITE/TEST NUMBER
  local pattern
  for pattern in "${thorough_patterns[@]}"; do
    # shellcheck disable=SC2053 # a pattern
    [[ $1 == ${pattern% half} ]] || continue
    [[ $pattern == *' half' && ${COVER:-} == quick ]] && ((($2 + ROWRELAY_SEED) % 2)) && continue
    return 0
  done
  return 1
}

is_chosen() { # SUITE/TEST NUMBER
  # shellcheck disable=SC2053
  [[ -z ${SUITE:-} || ${1%%/*} == @($SUITE) ]] || return 1
  # shellcheck disable=SC2053
  [[ -z ${TEST:-} || $1 == @($TEST) || ${1#*/} == @($TEST) ]] || return 1
  case ${COVER:-all} in
    quick) ! is_thorough "$1" "$2" ;;
    thorough) is_thorough "$1" "$2" ;;
  esac
}

# The chosen tests of a program, slowest first.
chosen_tests() { # PROGRAM
  local name number=0
  local -a thorough_patterns
  mapfile -t thorough_patterns < <(sed -E 's/ *#.*//; /^$/d' "$thorough")
  all_tests "$1" | while read -r name; do
    number=$((number + 1))
    if is_chosen "$name" "$number"; then echo "$name"; fi
  done | awk -v durations="$durations" '
    BEGIN {
      while ((getline line <"tests/slowest") > 0) { split(line, part, " "); seconds[part[1]] = part[2] }
      while ((getline line <durations) > 0) { split(line, part, " "); seconds[part[1]] = part[2] }
    }
    { print ($1 in seconds ? seconds[$1] : 1), $1 }' | sort -k1,1nr -k2 | cut -d' ' -f2
}

# The number that stands behind a word in Criterion's last line; 0 where that line is missing.
count() { # WORD LOG
  local number
  number=$(sed -n "s/.*Synthesis:.* $1: \([0-9]*\).*/\1/p" "$2")
  echo "${number:-0}"
}

# What a test said, without what Criterion says of the tests that it leaves out.
said() { # LOG
  grep -a -v -e '^\[====\]' -e ': Test is disabled$' -e '^\[RUN \]' "$1"
}

# Runs one test; the caller puts it into the background. Its servers leave their logs in the directory $log.servers.
run_test() { # PROGRAM SUITE/TEST SUFFIX
  local began=$EPOCHREALTIME log=$dir/logs/${2/\//::}$3 status pid word passing failing skipping bin=$ROWRELAY_BIN
  # shellcheck disable=SC2053
  [[ -z ${SANITIZED:-} || ${2%%/*} != @($SANITIZED_SUITES) ]] || bin=$(realpath "$SANITIZED/rowrelay")
  mkdir -p "$log.servers"
  chmod 777 "$log.servers" # root's servers run as another user
  # A process group of its own, so whatever the test leaves running is ended by that.
  ROWRELAY_BIN=$bin ROWRELAY_TEST_LOGS=$log.servers setsid "$1" --filter "$2" --verbose --jobs 1 --timeout $((limit + 60)) --color=never >"$log" 2>&1 &
  pid=$!
  echo "$pid $SECONDS $2" >"$log.pid"
  wait "$pid"
  status=$?
  rm -f "$log.pid"
  kill -KILL -- "-$pid" 2>/dev/null
  passing=$(count Passing "$log") failing=$(count Failing "$log") skipping=$(said "$log" | grep -c '^\[SKIP\]')
  if [[ $status != 0 && $failing == 0 ]]; then
    echo "exit status $status" >>"$log"
    failing=1
  elif ((passing + failing + skipping == 0)); then
    echo "no result" >>"$log"
    failing=1
  fi
  word=PASS
  if ((failing > 0)); then word=FAIL; elif ((passing == 0)); then word=SKIP; fi
  began=$(awk -v a="$began" -v b="$EPOCHREALTIME" 'BEGIN { printf "%.2f", b - a }')
  echo "$2 $word $began $passing $failing $skipping" >"$log.result"
  if [[ $word == SKIP ]]; then said "$log" | grep '^\[SKIP\]'; else echo "[$word] ${2/\//::}: (${began}s)"; fi
  [[ $word != FAIL ]] || sed 's/^/  /' <(said "$log" | head -n 20)
}

# Ends tests that have taken longer than `limit`, after their stacks were added to what they said.
end_hanging_tests() {
  local file pid began name
  while sleep 5; do
    for file in "$dir"/logs/*.pid; do
      read -r pid began name 2>/dev/null <"$file" || continue
      ((SECONDS - began >= limit)) || continue
      { echo "$name: did not end within $limit seconds" && tests/support/stacks.sh "$pid"; } >>"${file%.pid}" 2>&1
      kill -KILL -- "-$pid" 2>/dev/null
    done
  done
}

run_tests() { # PROGRAM
  local name word seconds passing failing skipping watcher ended
  local -a names=() running=()
  mkdir -p "$dir/logs"
  mapfile -t names < <(chosen_tests "$1")
  end_hanging_tests &
  watcher=$!
  for name in "${names[@]}"; do
    while ((${#running[@]} >= jobs)); do
      wait -n -p ended "${running[@]}"
      unset "running[$ended]"
    done
    run_test "$1" "$name" '' &
    running[$!]=$!
  done
  ((${#running[@]} == 0)) || wait "${running[@]}"
  for name in "${names[@]}"; do
    read -r name word seconds passing failing skipping <"$dir/logs/${name/\//::}.result" || continue
    passed=$((passed + passing)) failed=$((failed + failing)) skipped=$((skipped + skipping))
    echo "$name $seconds" >>"$dir/results"
    if [[ $word == FAIL ]]; then failures+=("$1 $name"); fi
  done
  repeat_failed "$1"
  kill "$watcher" 2>/dev/null
  keep_logs_of_failed "$1"
}

# Says of each failed test whether it fails alone, too: what fails by chance is a defect as well, and is told apart so.
repeat_failed() { # PROGRAM
  local failure name
  for failure in "${failures[@]:0:most_repeated}"; do
    [[ ${failure%% *} == "$1" ]] || continue
    name=${failure#* }
    echo "---- once more, alone: ${name/\//::}"
    run_test "$1" "$name" .again &
    wait $!
  done
}

# The same names may come again, in another program or way.
keep_logs_of_failed() { # PROGRAM
  local failure log name
  for failure in "${failures[@]}"; do
    [[ ${failure%% *} == "$1" ]] || continue
    name=${failure#* }
    log=$dir/logs/${name/\//::}
    show_failure "$log" >>"$dir/failures"
  done
  failures=()
  rm -rf "$dir/logs"
}

show_failure() { # LOG
  local word='not repeated' server log
  if [[ -e $1.again.result ]]; then
    read -r _ word _ <"$1.again.result"
    case $word in
      FAIL) word='failed twice' ;;
      *) word='failed, then passed alone' ;;
    esac
  fi
  echo "[FAIL] $(basename "$1"): $word"
  for log in "$1" "$1.again"; do
    [[ -e $log ]] || continue
    [[ $log == "$1" ]] || echo "  -- the second time:"
    said "$log" | tail -n 150 | sed 's/^/  /'
    for server in "$log.servers"/*; do
      [[ -e $server ]] || continue
      echo "  -- the end of the log of its server $(basename "$server"):"
      tail -n 40 "$server" | sed 's/^/  /'
    done
  done
}

show_slowest() { # N
  [[ -s $dir/results ]] || return 0
  sort -k2,2nr "$dir/results" | awk '!seen[$1]++' >"$dir/sorted"
  # What was not run this time keeps what it took before.
  mkdir -p "$(dirname "$durations")"
  touch "$durations"
  awk '!seen[$1]++' "$dir/sorted" "$durations" >"$dir/durations" && mv "$dir/durations" "$durations"
  (($1 < $(wc -l <"$dir/sorted"))) || return 0
  echo "---- the $1 slowest tests, in seconds:"
  head -n "$1" "$dir/sorted" | awk '{ printf "%8.1f  %s\n", $2, $1 }'
}
