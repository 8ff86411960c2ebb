#!/usr/bin/env bash
# Plays one case: a command of which one call fails, and what must hold then. Prints what is wrong, with what is needed to
# repeat it, and ends with exit status 1; prints "." where all is well, and "-" where the call was not reached.
#
#   case.sh SCENARIO PLACE:TIME:KIND    FAULTS: see stage.sh; FAULT_PROGRAM: with calls that can be made to fail;
#                                       or "none": lists its places; NORMAL_PROGRAM: without; KEEP=1 keeps the databases of a failure;
#                                       UNTIL: when (seconds of the clock) none begins any more
#
# The command ends within its time with the status that it always has, or with 1 (or 2) and a message that says why, and no
# sanitizer complains. If it says that it has done its work, this is so: what it reads it prints as ever, and what it
# writes is there. Then it is run once more without a fault, what is queued is delivered, and nothing is lost.
# shellcheck disable=SC2317 # stage.sh names the functions
set -uo pipefail
if [[ -n ${UNTIL:-} ]] && ((EPOCHSECONDS >= UNTIL)); then exit 0; fi
# shellcheck source=tests/faults/stage.sh
. "$(dirname "$0")/stage.sh"

here=$(cd "$(dirname "$0")" && pwd)
name=$1
fault=$2
kind=${fault##*:}
own=$FAULTS/cases/o$BASHPID # what this run prints
read -r _ stage expected must_hold command < <(scenario "$name")
LASTS=60 # seconds

problems=
wrong() { problems+="  $*"$'\n'; }

# Runs a program with the scenario's words, of which each goes as it is.
run_command() { # PROGRAM
  local words
  read -ra words <<<"${command/TXID/$(sql -c "select max(txid) from rowrelay.history where relation = 'shop.orders'::regclass" 2>/dev/null)}"
  (cd "$here" && exec timeout --kill-after=5 "$LASTS" "$1" "${words[@]}")
}

# What may differ between two runs of a command that only reads: times, numbers of processes, and the width that they take;
# and lists of tables, which doctor prints as they come from the database where it has no memory to take them apart.
normal() {
  sed -E -e 's/\["([^]]*)"\]/\1/g' -e 's/\bc[0-9]+_[st]\b/DATABASE/g' -e "s,/c[0-9]+\b,/CASE,g" -e 's/[0-9]+/N/g' -e 's/-+/-/g' -e 's/ +/ /g' -e 's/N\.N/N/g'
}

# ---- what must hold ------------------------------------------------------------------------------------------------

count_is() { # NUMBER WORDS QUERY
  local count
  count=$(sql -c "$3" 2>&1)
  [[ $count == "$1" ]] || wrong "$2: $count"
}

# The lines of at_source.sql and at_target.sql that a pattern chooses.
compare() { # PATTERN
  local differences
  differences=$(diff <(sql -f "$here/at_source.sql" 2>&1 | grep "$1") <(psql -qXAt -d "$FAULT_DB" -f "$here/at_target.sql" 2>&1 | grep "$1"))
  [[ -z $differences ]] || wrong "source and target differ: $differences"
}

nothing_is_left() {
  if ! "$NORMAL_PROGRAM" run --until-empty --wait 30 >"$own/again" 2>&1; then
    wrong "what is queued is not delivered: $(tail -n 3 "$own/again")"
  fi
  count_is '0|' 'changes are left in the queue, or refused' "select (select count(*) from rowrelay.queue),
    (select string_agg(concat_ws(' ', target, change_id, message), ', ') from rowrelay.errors)"
}

# All that is queued has arrived, wherever it goes, as it was captured, and in order.
delivered() {
  local sent
  nothing_is_left
  compare .
  chmod 644 "$FAULT_DIR"/*
  sent=$(sql -v "hook=$FAULT_DIR/hook" -v "nd=$FAULT_DIR/nd" -v "lines=$FAULT_DIR/lines" -v "bulk=$FAULT_DIR/_bulk" \
    -f "$here/sent.sql" 2>&1)
  [[ -z $sent ]] || wrong "$(head -n 5 <<<"$sent")"
}

# Rows that are queued again go to that target alone.
repaired() {
  nothing_is_left
  compare '^[^l]'
}
installed() { count_is 0 'schema rowrelay is not there' 'select count(*) from rowrelay.status'; }
added() { count_is 1 'the target is not there' "select count(*) from rowrelay.targets where name = 'more' and options ->> 'batch_rows' = '10'"; }
uninstalled() { count_is 0 'schema rowrelay is still there' "select count(*) from pg_namespace where nspname = 'rowrelay'"; }
redacted() {
  count_is 0 'the log still has the name' "select count(*) from rowrelay.history
    where relation = 'shop.customers'::regclass and key = '5' and (new_row ->> 'name' <> '' or old_row ->> 'name' <> '')"
}
captured() {
  sql -f "$here/changes.sql" || wrong 'the tables cannot be written'
  nothing_is_left
  compare '^log'
}
routed() {
  count_is 1 'the route is not there' "select count(*) from rowrelay.captures where relation = 'shop.remarks'::regclass and 'second' = any (targets)"
  delivered
}
documented() {
  count_is 1 'the document is not there' "select count(*) from rowrelay.documents where document = 'more'"
  delivered
}
released() {
  count_is 0 'shop.orders has triggers' "select count(*) from pg_trigger where tgrelid = 'shop.orders'::regclass and not tgisinternal"
  delivered
}
copied() {
  delivered
  local rows
  rows="select count(*), md5(string_agg(t::text, e'\n' order by t::text)) from"
  count_is "$(sql -d "$FAULT_DB" -c "$rows second.customers t")" 'target second differs, the source has' "$rows shop.customers t"
  count_is "$(sql -d "$FAULT_DB" -c "$rows second.orders t")" 'target second differs, the source has' "$rows shop.orders t"
}
# A command that only reads.
same() { :; }

# ---- the case ------------------------------------------------------------------------------------------------------

# Commands that only read do so from one copy, which stays.
if [[ $must_hold == same ]]; then id=read_$name; else id=c$BASHPID; fi
enter "$id"
if [[ $must_hold != same || $fault == none ]]; then copy_stage "$stage" "$id" || exit 2; fi
mkdir "$own"
leave() {
  [[ $must_hold == same ]] || drop_stage "$id"
  rm -rf "$own"
}
export ASAN_OPTIONS=exitcode=99:detect_leaks=1 UBSAN_OPTIONS=print_stacktrace=1
if [[ $fault == none ]]; then
  FAULT_LOG=$FAULTS/places/$name run_command "$FAULT_PROGRAM" >"$own/out" 2>"$own/err"
  status=$?
  normal <"$own/out" >"$FAULTS/printed/$name"
  echo 'failed nothing' >"$own/fault"
else
  FAULT=$fault FAULT_LOG=$own/fault run_command "$FAULT_PROGRAM" >"$own/out" 2>"$own/err"
  status=$?
fi
if [[ ! -s $own/fault ]]; then
  leave
  echo -
  exit 0
fi

message=$(grep -a -m 1 '^rowrelay: ' "$own/err")
# Its findings are what doctor prints.
[[ $name != doctor ]] || message+=$(grep '^fail ' "$own/out")
case $status in
  124 | 137) wrong "it did not end within $LASTS seconds" ;;
  99) wrong "a sanitizer complains" ;;
  "$expected") if grep -qa -E 'Sanitizer|runtime error' "$own/err"; then wrong "a sanitizer complains"; fi ;;
  1)
    [[ $message == 'rowrelay: '*[a-z]* ]] || wrong "exit status 1 without a message"
    if [[ $kind == fail && $message != *[Mm]emory* && $message != *'start a thread'* ]]; then wrong "the message does not say that memory ran out: $message"; fi
    ;;
  *) wrong "exit status $status instead of $expected or 1: $message" ;;
esac

if [[ $status == "$expected" && $must_hold == same ]]; then
  normal <"$own/out" >"$own/normal"
  cmp -s "$FAULTS/printed/$name" "$own/normal" ||
    wrong "it printed something else: $(diff "$FAULTS/printed/$name" "$own/normal" | head -n 5)"
fi
if [[ $status != "$expected" ]]; then
  # What was queued again would be waited for.
  [[ $name != repair ]] || "$NORMAL_PROGRAM" run --until-empty >/dev/null 2>&1
  run_command "$NORMAL_PROGRAM" >"$own/repeated" 2>&1
  status=$?
  # What was done though its end was not heard of cannot be done again.
  if [[ $status != "$expected" && $status != 0 ]] && ! grep -q 'already exists\|no captured table\|not installed\|no refused' "$own/repeated"; then
    wrong "run again it ended with $status: $(tail -n 3 "$own/repeated")"
  fi
fi
"$must_hold"

if [[ -z $problems ]]; then
  leave
  echo .
  exit 0
fi
read -r _ function addresses <"$own/fault"
tell() {
  echo "faults: $name: $function fails ($kind): make faults CASE='$name $fault'"
  printf '%s' "$problems"
  # shellcheck disable=SC2086 # one word each
  addr2line -e "$FAULT_PROGRAM" -f -s -p $addresses | grep -v ' calls\.c:' | sed 's/^/    /'
  grep -a -E 'ERROR: |SUMMARY|runtime error|^    #[0-9]' "$own/err" | head -n 12 | cut -c 1-150
  grep -a -v -e '^    #' -e ' info: ' "$own/err" | head -n 5 | cut -c 1-250 | sed 's/^/    | /'
}
report=$(tell)
echo "$report"
[[ -n ${KEEP:-} ]] || leave
exit 1
