# What the houses of applications share: sourced by the scripts beside it, which say what their neighbour promises its users.
#
# Each way of capturing has a database of its own, that the application's own tools make. There it works while it is captured
# and a process delivers, after release, and after uninstall; in one database rowrelay never comes. All that the application
# prints must be the same, and in the end each database must be as that one, as pg_dump sees it. Role app owns the tables and
# has no right in schema rowrelay; relay is a member of app. The module is one of the ways where it was built (make native).
# SHOW=1 prints what the application prints.
#
#   application COMMAND…     COMMAND… make, then COMMAND… work, three times, as role app in $PGDATABASE
#   application_in_sql FILE  the same of psql with FILE.make.sql and FILE.work.sql
#
# The script may define arrange (what the superuser prepares in a new database), settle (what he does there once it is
# captured), end (what is looked at in the end), must_capture (its tables, by default all of public) and ways (of capturing).
# shellcheck shell=bash
# shellcheck source=tests/houses/house.sh
source "$(dirname "${BASH_SOURCE[0]}")/house.sh"

must_capture=('public.*')
ways=(row statement module)
arrange() { :; }
settle() { :; }
end() { :; }

# open NAME: a new database, and the one of its mirror.
open() {
  moment="in database $1"
  at "$source dbname=postgres" "create database $1 owner app" "create database ${1}_dw owner relay"
  at "$source dbname=$1" "grant create on database $1 to relay"
  export PGDATABASE=$1
  arrange "$1"
}

# plays FILE WORD: the application does what WORD says, and FILE gets what it prints.
plays() {
  PGUSER=app PGOPTIONS='' timeout 300 "${played[@]}" "$2" >"$dir/$PGDATABASE.$1" 2>&1 </dev/null ||
    fail "$2 fails: $(tail -n 40 "$dir/$PGDATABASE.$1")"
}

# has_played FILE: as where rowrelay never was.
has_played() {
  diff "$dir/bare.$1" "$dir/$PGDATABASE.$1" || fail 'the application saw a difference'
}

# Rows may lie elsewhere in their tables' files, and were written at other times.
dump() {
  "$bin/pg_dump" -d "user=postgres dbname=$1 $source" | grep -v '^\\\(un\)\?restrict ' |
    sed -E 's/[0-9-]{10} [0-9:]{8}\.[0-9]+/TIME/g' | sort
}

move_into() { # WAY
  relay init
  if [[ $1 == module ]]; then
    "$top/tests/support/native.sh" "$dir/source" | at "$source dbname=$PGDATABASE"
    at "$source dbname=$PGDATABASE" 'grant usage on language rowrelay to relay'
  fi
  relay target add dw "postgresql://relay@/${PGDATABASE}_dw?host=$dir/source&port=$PGPORT"
  local -a how=()
  if [[ $1 == statement ]]; then how=(--per statement); fi
  relay capture "${must_capture[@]}" --to dw --create "${how[@]}"
  relay backfill "${must_capture[@]}" --to dw
}

notes() {
  at "$source dbname=$PGDATABASE" 'delete from rowrelay.job' 'select from rowrelay.maintain()' \
    "select note from rowrelay.captures where note <> '' union all select note from rowrelay.status where note <> ''
     union all select message from rowrelay.errors"
}

# What an ALTER TABLE or a new partition left different must be noted, and the command repairs it.
equals() {
  local noted status=0
  relay run --until-empty
  noted=$(notes 2>&1)
  "$rowrelay" verify dw >"$dir/said" 2>&1 || status=$?
  if [[ $noted == *--repair* ]]; then
    "$rowrelay" verify dw --repair >"$dir/said" 2>&1 || true
    relay run --until-empty
    relay verify dw
    noted=$(notes)
  elif [[ $status != 0 ]]; then
    fail "nothing is noted, but $(cat "$dir/said") -- $noted"
  fi
  [[ -z $noted ]] || fail "this is noted: $noted"
}

# The application in a database with rowrelay, which goes.
live_with() { # WAY
  open "$1"
  plays made make
  has_played made
  move_into "$1"
  settle "$1"
  run_relay # which sleeps, so that writers wake it
  plays captured work
  has_played captured
  stop_relay
  equals
  moment="in database $1 after release"
  relay release "${must_capture[@]}"
  plays released work
  has_played released
  moment="in database $1 after uninstall"
  relay uninstall --force
  plays uninstalled work
  has_played uninstalled
  if [[ $1 == module ]]; then at "$source dbname=$1" 'drop language rowrelay'; fi
  diff <(dump bare) <(dump "$1") || fail 'the database is not what it was'
}

application() { # COMMAND…
  local way
  played=("$@")
  at "$source dbname=postgres" 'create role app login' 'create role relay login in role app'
  export PGHOST=$dir/source PGPORT=${source##*port=} PGUSER=relay ROWRELAY_PASSWORD=
  PGPORT=${PGPORT%% *}
  open bare
  plays made make
  settle bare
  for way in captured released uninstalled; do plays "$way" work; done
  if [[ -n ${SHOW:-} ]]; then cat "$dir"/bare.*; fi
  for way in "${ways[@]}"; do
    [[ $way != module || -e build/native/rowrelay_native.so ]] || continue
    live_with "$way"
    end "$way"
  done
}

application_in_sql() { # FILE
  # shellcheck disable=SC2016 # they are the arguments of that bash
  application bash -c '"$0" -XAt -v VERBOSITY=verbose -v SHOW_CONTEXT=always -f "$1.$2.sql"' "$bin/psql" "$1"
}
