#!/usr/bin/env bash
# Builds rowrelay without one of its safeguards, and prints where the program is. The tree stays as it is.
#
#   plant.sh BUILD NAME    plants/NAME.patch says what is taken out; it is applied to a copy in BUILD/plants/NAME
set -euo pipefail
cd "$(dirname "$0")/../.."

build=$1
patch=$PWD/tests/chaos/plants/$2.patch
copy=$build/plants/$2
if [[ ! -e $patch ]]; then
  echo "there is no tests/chaos/plants/$2.patch; there are:" "$(basename -s .patch tests/chaos/plants/*.patch | xargs)" >&2
  exit 2
fi

rm -rf "$copy"
mkdir -p "$copy/build"
cp -a Makefile replicator schema triggers "$copy"
cp -a "$build/replicator" "$build"/queries.* "$build"/schema_files.* "$build"/pages.* "$copy/build"
patch --quiet --directory "$copy" --strip 1 <"$patch" >&2
MAKEFLAGS='' make -s -j2 -C "$copy" build/rowrelay >&2
realpath "$copy/build/rowrelay"
