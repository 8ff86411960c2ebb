#!/bin/sh
# Installs what building and testing need and this machine lacks, on Debian and its kin; anywhere else it says what is
# missing. Asks nothing and changes nothing when all is there.
#
#   tests/deps.sh           without which nothing can be built or tested: it fails when that cannot be had
#   tests/deps.sh --tests   that, and what single tests need, which say that they are skipped where it is not there
set -eu
cd "$(dirname "$0")/.."

has() { command -v "$1" >/dev/null 2>&1 || [ -x "/usr/sbin/$1" ]; }
has_header() { [ -e "/usr/include/$1" ]; }
has_library() { has pkg-config && pkg-config --exists "$1"; }
has_server() { has initdb || ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1; }
newest_server() { # "all" while there is none
  newest=$(find /usr/lib/postgresql -mindepth 1 -maxdepth 1 2>/dev/null | sed 's,.*/,,' | sort -n | tail -n 1)
  echo "${newest:-all}"
}
has_server_headers() { [ -e "/usr/include/postgresql/$(newest_server)/server/postgres.h" ]; }
has_checker() { ls "/usr/share/postgresql/$(newest_server)/extension/plpgsql_check.control" >/dev/null 2>&1; }
has_faketime() { ls /usr/lib/*/faketime/libfaketimeMT.so.1 >/dev/null 2>&1; }
has_compose() { has docker-compose || docker compose version >/dev/null 2>&1; }
has_browser_or_no_driver() { has chromium || ! has npm; }

missing=
# needs PACKAGE TEST…: what the package brings is looked for, not the package: it may have come another way.
needs() {
  package=$1
  shift
  "$@" || missing="$missing $package"
}
needs gcc has gcc
needs libc6-dev has_header stdio.h
needs make has make
needs pkg-config has pkg-config
needs libpq-dev has_library libpq
needs libjansson-dev has_library jansson
needs libcurl4-openssl-dev has_library libcurl
needs libssl-dev has_library libcrypto
needs zlib1g-dev has_library zlib
needs libmicrohttpd-dev has_library libmicrohttpd
needs libyaml-dev has_library yaml-0.1
needs libcriterion-dev has_library criterion
needs postgresql has_server
needs libfaketime has_faketime
needed=$missing

look_for_what_tests_want() {
  missing=
  needs librdkafka-dev has_library rdkafka
  needs kafkacat has kcat
  needs libhiredis-dev has_library hiredis
  needs redis-server has redis-server
  needs redis-tools has redis-cli
  needs libnats-dev has_library libnats
  needs nats-server has nats-server
  needs librabbitmq-dev has_library librabbitmq
  needs rabbitmq-server has rabbitmq-server
  needs nginx has nginx
  needs pgpool2 has pgpool
  needs "postgresql-$(newest_server)-repack" test -x "/usr/lib/postgresql/$(newest_server)/bin/pg_repack"
  needs rpm has rpmbuild
  needs openssl has openssl
  needs pgbouncer has pgbouncer
  needs prometheus has promtool
  needs chromium has_browser_or_no_driver
  needs clickhouse-server has clickhouse-server
  needs docker-compose has_compose
  needs systemd has systemd-analyze
  needs "postgresql-server-dev-$(newest_server)" has_server_headers
  needs "postgresql-$(newest_server)-plpgsql-check" has_checker
  needs gdb has gdb
  needs groff has groff
  needs clang-format has clang-format
  needs clang-tidy has clang-tidy
  needs cppcheck has cppcheck
  needs mandoc has mandoc
  needs shellcheck has shellcheck
  needs spin has spin
  needs fish has fish
  needs zsh has zsh
}
look_for_what_tests_want
wanted=
tried=build/tests-lack # what could not be had is not asked for again
if [ "${1:-}" = --tests ] && [ "$(cat "$tried" 2>/dev/null)" != "$missing" ]; then wanted=$missing; fi
[ -n "$needed$wanted" ] || exit 0

say_what_to_do() {
  echo "rowrelay: cannot install what is missing here: $1" >&2
  echo "hint: please install these Debian packages, or what they are called here:$2" >&2
}
reason=
as_root=
if ! has apt-get; then
  reason="there is no apt-get"
elif [ "$(id -u)" != 0 ]; then
  as_root=sudo
  if ! has sudo || { ! [ -t 0 ] && ! sudo -n true 2>/dev/null; }; then # with a terminal it may ask for the password
    reason="neither root nor sudo without a password"
  fi
fi
if [ -n "$reason" ]; then
  [ -z "$needed" ] || { say_what_to_do "$reason" "$needed"; exit 1; }
  exit 0
fi

# The words of $as_root and of what is given are meant to be split.
# shellcheck disable=SC2086,SC2048
install() { $as_root env DEBIAN_FRONTEND=noninteractive apt-get -q -y --no-install-recommends install $*; }

echo "installing$needed$wanted"
$as_root apt-get -q update || true # what is known already may do
[ -z "$needed" ] || install "$needed" || { say_what_to_do "apt-get failed" "$needed"; exit 1; }
if [ -n "$wanted" ]; then # for the server that has just been installed
  look_for_what_tests_want
  wanted=$missing
fi
[ -z "$wanted" ] || install "$wanted" || for package in $wanted; do install "$package" || true; done

look_for_what_tests_want
if [ -n "$wanted" ] && [ -n "$missing" ]; then
  mkdir -p build
  echo "$missing" >"$tried"
  say_what_to_do "apt-get failed, and some tests will be skipped" "$missing"
fi
