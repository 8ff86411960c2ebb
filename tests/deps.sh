#!/bin/sh
# Installs what building and testing need and this machine lacks, on Debian and its kin; anywhere else it says what is
# missing. Asks nothing and changes nothing when all is there.
set -eu

has() { command -v "$1" >/dev/null 2>&1; }
has_header() { [ -e "/usr/include/$1" ]; }
has_library() { has pkg-config && pkg-config --exists "$1"; }
has_server() { has initdb || ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1; }
has_faketime() { ls /usr/lib/*/faketime/libfaketimeMT.so.1 >/dev/null 2>&1; }

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
needs libcriterion-dev has_library criterion
needs postgresql has_server
needs libfaketime has_faketime
[ -n "$missing" ] || exit 0

say_what_to_do() {
  echo "rowrelay: cannot install what is missing here: $1" >&2
  echo "hint: please install these Debian packages, or what they are called here:$missing" >&2
  exit 1
}
has apt-get || say_what_to_do "there is no apt-get"
if [ "$(id -u)" = 0 ]; then
  as_root=
elif has sudo && { [ -t 0 ] || sudo -n true 2>/dev/null; }; then # with a terminal it may ask for the password
  as_root=sudo
else
  say_what_to_do "neither root nor sudo without a password"
fi

echo "installing$missing"
# The words of $as_root and $missing are meant to be split.
# shellcheck disable=SC2086
{
  $as_root apt-get -q update &&
    $as_root env DEBIAN_FRONTEND=noninteractive apt-get -q -y --no-install-recommends install $missing
} || say_what_to_do "apt-get failed"
