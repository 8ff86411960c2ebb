#!/bin/sh
# Puts the server module that `make native` has built into DIR, which the server can read, and prints the SQL that makes
# its language from there, without an installation, and so without an owner of the extension. NATIVE_SO names the module
# of another server. Exit status 1 when it has not been built.
#
#   native.sh DIR
set -eu
top=$(dirname "$0")/../..
module=${NATIVE_SO:-$top/build/native/rowrelay_native.so}
[ -e "$module" ] || { echo "the server module is not built: make native" >&2; exit 1; }
install -m 755 "$module" "$1/rowrelay_native.so"
sed -e '/^\\echo/d; /@extowner@/d' -e "s,MODULE_PATHNAME,$1/rowrelay_native.so," \
  -e 's,\(function\|handler\|validator\) rowrelay_,\1 pg_catalog.rowrelay_,g' \
  "$top/triggers/native/rowrelay_native--1.sql"
