#!/bin/sh
# Puts the server module that `make native` has built into DIR, which the server can read, and prints the SQL that makes
# its language from there, without an installation, and so without an owner of the extension. Exit status 1 when it has
# not been built.
#
#   native.sh DIR
set -eu
top=$(dirname "$0")/../..
[ -e "$top/build/native/rowrelay_native.so" ] || { echo "the server module is not built: make native" >&2; exit 1; }
install -m 755 "$top/build/native/rowrelay_native.so" "$1/rowrelay_native.so"
sed -e '/^\\echo/d; /@extowner@/d' -e "s,MODULE_PATHNAME,$1/rowrelay_native.so," \
  -e 's,function rowrelay,function pg_catalog.rowrelay,; s,handler rowrelay,handler pg_catalog.rowrelay,' \
  "$top/triggers/native/rowrelay_native--1.sql"
