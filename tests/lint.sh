#!/usr/bin/env bash
# What `make lint` looks at before clang-tidy, which takes longest: the layers of includes, sizes, width, format, cppcheck,
# the scripts (shellcheck), the manual pages. A tool that is not installed is named and skipped. Exit status 1 when one
# complains.
#
#   tests/lint.sh BUILD    FORMATTED: the files that clang-format has to agree with
# shellcheck disable=SC2317,SC2016 # check() calls the functions; what is in single quotes is for awk
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1

build=$1
wrong=0

# Another version finds other things, and formats otherwise.
declare -A versions=([clang-format]=14 [cppcheck]=2.10)

# check WORDS TOOL FUNCTION: says only what is wrong, or which tool is not there.
check() {
  local version=${versions[$2]:-}
  if ! command -v "$2" >/dev/null; then
    echo "lint: $2 is not installed: $1: skipped"
  elif [[ -n $version ]] && ! "$2" --version | grep -qE " ${version/./\\.}(\.|$)"; then
    echo "lint: this is not $2 $version: $1: skipped"
  elif ! "$3"; then
    echo "lint: $1: see above"
    wrong=1
  fi
}

# The files that git knows, or, of a tree without git, all.
files() { git ls-files -- "$@" 2>/dev/null || find . -path ./build -prune -o -type f -print; }

formatted() {
  # shellcheck disable=SC2086 # they are meant to be split
  clang-format --dry-run -Werror $FORMATTED
}

narrow() { # dumps of former versions are as pg_dump wrote them; a released migration is not edited
  files '*.sql' | sed 's,^\./,,' | grep '\.sql$' | grep -v -e '^tests/support/schema/' -e 'migrations/0001_initial' |
    xargs awk 'length($0) > 120 { print FILENAME ":" FNR ": " length($0) " columns"; wrong = 1 } END { exit wrong }'
}

with_where() { # extension safeupdate, which some houses load, rejects an UPDATE or DELETE without
  files '*.sql' | sed 's,^\./,,' | grep -E '^(schema|triggers|replicator)/.*\.sql$' | xargs awk -f tests/where.awk
}

own_databases() { # two tests with one name would drop each other's databases, and roles
  local twice
  twice=$(grep -rhoE 'begin\(&?[a-z>-]+, "[a-z0-9_]+"' tests/integration | grep -oE '"[^"]+"' | sort | uniq -d)
  [[ -z $twice ]] || { echo "fixture_begin() is called twice with $twice"; return 1; }
  twice=$(grep -rhoE 'role_begin\("[a-z0-9_]+"' tests/integration | sort | uniq -d)
  [[ -z $twice ]] || { echo "twice: $twice)"; return 1; }
}

named_tests() { # what these pages say shows something: tests, models, and bugs that a model finds
  local page name model wrong=0
  for page in deploy/PROMISES.md deploy/SECURITY.md; do
    while read -r name; do
      grep -rqE "^(Parameterized)?Test\\(${name%%::*}, ${name##*::}[,)]" tests/unit tests/integration ||
        { echo "$page: there is no test $name"; wrong=1; }
    done < <(grep -oE '\b[a-z_0-9]+::[a-z_0-9]+' "$page" | grep -v '^suite::test$' | sort -u)
    while read -r model name; do
      [[ -e tests/model/$model.pml ]] || { echo "$page: there is no model $model"; wrong=1; continue; }
      [[ -z $name ]] || grep -q -- "$name\b" <<<"$(sed '/\*\//q' "tests/model/$model.pml")" ||
        { echo "$page: model $model has no $name"; wrong=1; }
    done < <(grep -oE 'tests/model/[a-z]+\.pml`( `-D[A-Z_]+`)*' "$page" | tr -d '`' |
      awk '{ sub(/^tests\/model\//, ""); sub(/\.pml/, ""); if (NF == 1) print; for (i = 2; i <= NF; i++) print $1, $i }')
    while read -r name; do
      [[ -e $name ]] || { echo "$page: there is no $name"; wrong=1; }
    done < <(grep -oE '`(replicator|schema|triggers|tests)/[a-z_/.0-9-]+`' "$page" | tr -d '`' | sort -u)
  done
  return "$wrong"
}

planted_bugs() { # each takes something out of the program as it is now
  local patch wrong=0
  for patch in tests/chaos/plants/*.patch; do
    patch --quiet --dry-run --force --fuzz=0 --strip 1 <"$patch" >/dev/null ||
      { echo "$patch does not fit the program any more"; wrong=1; }
  done
  return "$wrong"
}

scripts() {
  files | while read -r file; do
    if head -n 1 "$file" | grep -aqE '^#!.*\b(ba)?sh$'; then echo "$file"; fi
  done | xargs shellcheck --external-sources
}

errors_in_c() {
  # NULL ends a list of arguments wherever it is a pointer.
  cppcheck --quiet --enable=warning,performance,portability --std=c11 --inline-suppr --error-exitcode=1 -j2 \
    -Ireplicator "-I$build" -D_GNU_SOURCE --suppress=missingIncludeSystem --suppress=varFuncNullUB replicator
}

manual_pages() { # which have no date, so that the same source makes the same pages
  ! mandoc -T lint -W warning "$build"/manual/*.1 | grep -v 'missing date'
}

check 'the layers of includes' bash tests/layers.sh
check 'the size of files and functions' awk tests/sizes.sh
check 'the width of SQL' awk narrow
check 'each UPDATE and DELETE has a WHERE' awk with_where
check 'format (make format mends it)' clang-format formatted
check 'the databases of tests' grep own_databases
check 'the tests that pages name' grep named_tests
check 'the planted bugs of chaos' patch planted_bugs
check 'scripts' shellcheck scripts
check 'manual pages' mandoc manual_pages
check 'errors in C' cppcheck errors_in_c
exit $wrong
