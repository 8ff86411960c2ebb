#!/usr/bin/env bash
# Fault injection: every call of memory, libpq and libcurl that a command makes fails once, and what must hold holds
# (case.sh). Prints the seed first, each violation with how to repeat it, and how many cases there were; exit status 1 when
# one is violated.
#
#   faults.sh BUILD PROGRAM    BUILD has rowrelay-faults, PROGRAM is rowrelay without. SEED=number decides which cases come
#                              first; LIMIT=seconds ends it before all have come, and plays some commands only;
#                              SCENARIO="name…" those; CASE="name PLACE:TIME:KIND" that case. JOBS=number at a time (one
#                              per processor), FAULT_FRAMES=number (calls.c): with 6 there are three times as many cases
#
# Each command runs once without a fault, and lists the places from which it calls what can fail. Each place fails at its
# first call, and, where there are several, at one that the seed chooses; a call of libpq fails in up to three ways.
set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1

build=$(realpath "$1")
export FAULT_PROGRAM=$build/rowrelay-faults NORMAL_PROGRAM
NORMAL_PROGRAM=$(realpath "$2")
seed=${SEED:-$((RANDOM << 15 | RANDOM))}
jobs=${JOBS:-$(nproc)}
pg=$PWD/tests/support/pg.sh
here=$PWD/tests/faults
export FAULTS
FAULTS=$(mktemp -d /tmp/rowrelay-faults-XXXXXX) # a socket's path must be short
chmod 755 "$FAULTS"
mkdir "$FAULTS/cases" "$FAULTS/printed"
receiver=

cleanup() {
  [[ -z $receiver ]] || kill "$receiver" 2>/dev/null
  if [[ -n ${KEEP:-} ]]; then
    echo "faults: all is in $FAULTS"
  else
    "$pg" remove "$FAULTS/pg"
    rm -rf "$FAULTS"
  fi
}
trap cleanup EXIT
trap 'exit 130' INT TERM HUP

again="SEED=$seed${LIMIT:+ LIMIT=$LIMIT}${SCENARIO:+ SCENARIO=\"$SCENARIO\"}${FAULT_FRAMES:+ FAULT_FRAMES=$FAULT_FRAMES}"
echo "faults: seed $seed; again: make faults $again"
PATH=$("$pg" bin):$PATH
export PATH
"$pg" start "$FAULTS/pg" max_connections=200 shared_buffers=64MB autovacuum=off >"$FAULTS/start" 2>&1 ||
  { cat "$FAULTS/start"; exit 2; }
"$build/faults-receiver" "$FAULTS/cases" >"$FAULTS/port" &
receiver=$!
until [[ -s $FAULTS/port ]]; do sleep 0.05; done
# shellcheck source=tests/faults/stage.sh
. "$here/stage.sh"

# ---- the stages ----------------------------------------------------------------------------------------------------

do_it() { "$NORMAL_PROGRAM" "$@" >>"$FAULTS/start" 2>&1 || { tail -n 5 "$FAULTS/start"; exit 2; }; }

begin_stage() { # NAME [FROM]
  enter "$1"
  if [[ -n ${2:-} ]]; then
    copy_stage "$2" "$1" || exit 2
  else
    sql -d postgres -c "create database $1_s" -c "create database $1_t" && mkdir "$FAULT_DIR" || exit 2
  fi
}

# shellcheck disable=SC2016 # the program fills in what is in single quotes
add_targets() {
  local database='postgresql:///${FAULT_DB}?host=${FAULT_HOST}' http='127.0.0.1:${FAULT_PORT}/${FAULT_CASE}'
  do_it target add dw "$database"
  do_it target add second "$database"
  do_it target add log "$database" -o mode=append
  do_it target add hook "http://$http/hook" -o events=3 -o secret='${FAULT_SECRET}' -o headers='X-Shop: 1'
  do_it target add nd "ndjson+http://$http/nd"
  do_it target add lines 'file:${FAULT_DIR}/lines'
  do_it target add find "elasticsearch+http://$http/"
}

capture_all() {
  local target
  do_it capture 'shop.*' --before
  do_it route 'shop.*' dw --create
  do_it route 'shop.*' log --create
  for target in hook nd lines; do do_it route 'shop.*' "$target"; done
  do_it route shop.customers find
  do_it document add doc --target dw --key id --query "$here/order_text.sql" --create --from shop.orders:id \
    --from 'shop.customers(name): select o.id from shop.orders o join changed c on c.id = o.customer_id'
  do_it backfill 'shop.*' --to dw
  do_it backfill --document doc
  do_it run --until-empty
  do_it route shop.customers second --into second.customers --create
  do_it route shop.orders second --into second.orders --create
  sql -f "$here/changes.sql" || exit 2
}

make_stages() {
  begin_stage plain
  sql -f "$here/tables.sql" || exit 2
  begin_stage installed plain
  do_it init
  add_targets
  begin_stage queued installed
  capture_all
  begin_stage delivered queued
  do_it run --until-empty
  begin_stage damaged delivered
  sql -d "$FAULT_DB" -c "delete from shop.orders where id in (5, 6)" -c "update shop.customers set name = 'x' where id = 9" \
    -c "insert into shop.\"Odd Ones\" values ('extra', 1)" || exit 2
  begin_stage refused queued
  sql -d "$FAULT_DB" -c "alter table shop.customers add constraint short check (name not like 'new 10_')" || exit 2
  do_it run --until-empty
  sql -d "$FAULT_DB" -c "alter table shop.customers drop constraint short" || exit 2
}

# ---- the cases -----------------------------------------------------------------------------------------------------

# Plays each command without a fault, which must go well, and lists its places.
list_places() {
  mkdir "$FAULTS/places"
  printf '%s none\n' "$@" | xargs -P "$jobs" -L 1 "$here/case.sh" | grep -v '^\.$'
  [[ ${PIPESTATUS[1]} == 0 ]]
}

# A line for each case of a command: "order name PLACE:TIME:KIND".
list_cases() { # NAME
  LC_ALL=C sort "$FAULTS/places/$1" | awk -v name="$1" -v seed="$seed" '
    function add(time, kind) { printf "%.6f %s %s:%d:%s\n", rand(), name, $1, time, kind }
    BEGIN { srand(seed) }
    {
      add(1, "fail")
      if ($3 ~ /^PQ(send|put|pipelineSync|consumeInput|getCopyData)/) add(1, "cut")
      if ($3 ~ /^PQ(flush|putCopyEnd|getResult)/) add(1, "lost")
      if ($2 > 1) add(2 + int(rand() * ($2 - 1)), "fail")
    }'
}

# All commands; of a run that is limited those that the seed chooses, and the one that delivers.
choose_scenarios() {
  if [[ -z ${LIMIT:-} ]]; then
    scenarios | awk '{ print $1 }'
  else
    echo run
    scenarios | awk -v seed="$seed" 'BEGIN { srand(seed) } $1 != "run" { print rand(), $1 }' | sort | awk 'NR <= 6 { print $2 }'
  fi
}

make_stages
if [[ -n ${CASE:-} ]]; then
  list_places "${CASE%% *}" || exit 1
  # shellcheck disable=SC2086 # two words
  "$here/case.sh" $CASE
  exit
fi
# shellcheck disable=SC2206,SC2207 # words without spaces
names=(${SCENARIO:-$(choose_scenarios)})
list_places "${names[@]}" || exit 1
for name in "${names[@]}"; do list_cases "$name"; done |
  # One command of those that call from the same place is enough.
  LC_ALL=C sort | awk '{ split($3, fault, ":"); if (!seen[fault[1], fault[2] > 1, fault[3]]++) print }' >"$FAULTS/list"
echo "faults: ${names[*]}: $(wc -l <"$FAULTS/list") cases; $SECONDS s so far"
until=${LIMIT:+$((EPOCHSECONDS - SECONDS + LIMIT))}
cut -d' ' -f 2- "$FAULTS/list" | UNTIL=$until xargs -P "$jobs" -L 1 "$here/case.sh" |
  tee "$FAULTS/results" | grep --line-buffered -v '^[.-]$'
played=$(grep -c '^\.$' "$FAULTS/results")
failed=$(grep -c '^faults: ' "$FAULTS/results")
missed=$(grep -c '^-$' "$FAULTS/results")
echo "faults: seed $seed, $SECONDS s: $played cases went well, $failed did not; in $missed the call was not reached"
[[ $failed == 0 && $played -gt 0 ]]
