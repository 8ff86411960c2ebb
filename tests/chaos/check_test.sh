#!/usr/bin/env bash
# Shows that the checker finds each class of violation, and nothing in a history without one: a small good history, and
# each line below changes one file of it and names what must be found then.
#
#   check_test.sh CHECK    the program chaos-check
# shellcheck disable=SC2016 # $ is sed's
set -uo pipefail

check=$(realpath "$1")
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
wrong=0

good() {
  rm -rf "${dir:?}"/*
  # table key n op mark token optional
  cat >"$dir/truth" <<'TRUTH'
bank 1 1 i 1 b1 f
bank 1 2 u 2 b2 f
bank 2 1 i 1 b1+ f
bank 2 2 u 2 b2+ f
churn 1 1 i 1 c1 f
churn 1 2 u 2 c2 f
churn 1 3 d 2 c3 f
churn 1 4 i 4 c4 f
churn 1 5 t 0 c5.1 f
churn 1 6 i 6 c6 f
churn 2 1 i 1 d1 f
churn 2 2 t 0 c5.2 f
list 1 1 i 1 l1 f
list 1 2 u 2 l2 f
list 1 3 u 3 l3 t
list 1 4 u 4 l4 f
TRUTH
  echo 'ok b1 c1 l4' >"$dir/acked.0"
  echo 'failed x9' >>"$dir/acked.0"
  echo 'unknown x8 l1' >>"$dir/acked.0"
  printf '%s\n' 'm rows bank churn list' 'a events exactly-once' 'h events at-least-once' 'o events at-most-once' \
    >"$dir/targets"
  printf '%s\n' 'bank 1 2 90' 'bank 2 2 110' 'churn 1 6 c6' 'list 1 4 l1,l2,l3,l4' >"$dir/source.rows"
  cp "$dir/source.rows" "$dir/m.rows"
  # table key op mark id; the write that may be left out is left out
  cat >"$dir/a.events" <<'EVENTS'
list 1 i 1 1
bank 1 i 1 2
bank 2 i 1 3
churn 1 i 1 4
churn 2 i 1 5
churn 1 u 2 6
bank 1 u 2 7
churn 1 d 2 8
churn 1 i 4 9
churn 1 s 4 10
bank 2 u 2 11
churn - t 0 12
churn 1 i 6 13
list 1 u 2 14
list 1 s 2 15
list 1 u 4 17
EVENTS
  # the last ones of a key again
  sed -e '/ 14$/a list 1 i 1 1\nlist 1 u 2 14' "$dir/a.events" >"$dir/h.events"
  grep -v ' 9$' "$dir/a.events" | grep -v ' s ' >"$dir/o.events"
  echo 'o churn 1 9' >"$dir/given-up"
  printf '%s\n' 'list 1 1' 'churn 1 1' 'list 1 4' 'churn 1 0' 'churn 1 4' 'churn 1 0' 'churn 1 6' >"$dir/m.watched"
  printf '%s\n' '200 now' '200 then' >"$dir/m.sums"
  : >"$dir/pending"
  : >"$dir/late"
  : >"$dir/crashed"
}

# plant WHAT FILE SED FOUND: with this change of a file the checker says so, and nothing else of that target's.
plant() {
  local said
  good
  sed -i -e "$3" "$dir/$2"
  said=$("$check" "$dir")
  if ! grep -q -- "^$4" <<<"$said"; then
    echo "check_test: $1: the checker does not say \"$4\" but: $said"
    wrong=1
  fi
}

good
if ! said=$("$check" "$dir"); then
  echo "check_test: a good history: $said"
  wrong=1
fi

plant 'a committed write is not there' acked.0 '1s/$/ gone/' 'lost: source: gone'
plant 'a failed write is there' acked.0 's/x9/c2/' 'invented: source: c2'
plant 'a row is missing' m.rows '/^list/d' 'lost: m: list 1'
plant 'a row is old' m.rows 's/^bank 1 2 90/bank 1 1 100/' 'stale: m: bank 1'
plant 'a row has another value' m.rows 's/l1,l2,l3,l4/l1,l2,l4/' 'stale: m: list 1'
plant 'a row is back' m.rows '$a churn 2 1 d1' 'resurrected: m: churn 2'
plant 'a row is there twice' m.rows '/^list/p' 'resurrected: m: list 1'
plant 'an event is lost' a.events '/ 14$/d' 'lost: a: list 1: u n=2'
plant 'the last event is lost' a.events '/ 17$/d' 'lost: a: list 1: u n=4'
plant 'a delete is lost' a.events '/ 8$/d' 'lost: a: churn 1: d n=2'
plant 'a truncate is lost' a.events '/ 12$/d' 'lost: a: churn 1: t'
plant 'an event comes twice' a.events '/ 7$/p' 'repeated: a: bank 1'
plant 'a write comes twice, by another id' a.events '/ 7$/a bank 1 u 2 99' 'repeated: a: bank 1'
plant 'two events are exchanged' a.events '/ 6$/d; / 8$/a churn 1 u 2 6' 'reordered: a: churn 1: u n=2'
plant 'a truncate comes too early' a.events '/ 12$/d; / 8$/a churn - t 0 12' 'reordered: a: churn 1: i n=4'
plant 'a truncate comes too late' a.events '/ 12$/d; / 13$/a churn - t 0 12' 'reordered: a: churn 1: t'
plant 'nobody wrote it' a.events '$a list 1 u 9 99' 'invented: a: list 1: u n=9'
plant 'nobody wrote the key' a.events '$a list 7 i 1 99' 'invented: a: an event of list 7'
plant 'a write that may be left out comes late' a.events '$a list 1 u 3 99' 'reordered: a: list 1: u n=3'
plant 'an old row is sent as present' a.events '$a list 1 s 2 99' 'stale: a: list 1'
plant 'a deleted row is sent as present' a.events '/ 8$/a churn 1 s 2 99' 'resurrected: a: churn 1'
plant 'an event is lost although others come again' h.events '/ 14$/d' 'lost: h: list 1: u n=2'
plant 'an event comes again with another id' h.events '$a list 1 u 4 99' 'repeated: h: list 1'
plant 'two events are exchanged in between' h.events '/ 6$/d; / 8$/a churn 1 u 2 6' 'reordered: h: churn 1'
plant 'nobody gave it up' o.events '/ 6$/d' 'lost: o: churn 1: '
plant 'what was given up was of another key' given-up 's/churn 1/churn 2/' 'lost: o: churn 1: i n=4'
plant 'it was sent twice' o.events '/ 7$/p' 'repeated: o: bank 1'
plant 'readers saw an older row' m.watched '$a list 1 2' 'went-back: m: list 1'
plant 'readers saw a deleted row again' m.watched '/churn 1 0/a churn 1 1' 'resurrected: m: churn 1'
plant 'readers saw no row' m.watched '$a list 1 0' 'vanished: m: list 1'
plant 'readers saw half a transfer' m.sums '2s/200/190/' 'torn: m: '

good
sed -i '/^list/d' "$dir/m.rows"
echo 'm list 1 9' >>"$dir/given-up"
if ! said=$("$check" "$dir"); then
  echo "check_test: a row that was given up: $said"
  wrong=1
fi

# Empty files have no line to change.
for file in pending late crashed; do
  good
  echo 'm 5' >"$dir/$file"
  if "$check" "$dir" >/dev/null; then
    echo "check_test: what $file says is not found"
    wrong=1
  fi
done
good
: >"$dir/truth"
if "$check" "$dir" >/dev/null; then
  echo 'check_test: a run in which nobody wrote passes'
  wrong=1
fi

exit $wrong
