#!/bin/sh
# The second half of make deb: a package of the server module for each PostgreSQL whose headers are here,
# build/postgresql-15-rowrelay_VERSION_ARCHITECTURE.deb and so on.
#
#   deploy/native_deb.sh BUILD VERSION
set -eu
cd "$(dirname "$0")/.."

build=$1
version=$2
architecture=$(dpkg --print-architecture)
maintainer=$(sed -n 's/^Maintainer: //p' deploy/debian/control)

for config in /usr/lib/postgresql/*/bin/pg_config; do
  if ! [ -x "$config" ] || ! [ -e "$("$config" --includedir-server)/postgres.h" ]; then continue; fi
  major=$("$config" --version | sed 's/[^0-9]*\([0-9]*\).*/\1/')
  package=postgresql-$major-rowrelay
  stage=$(realpath "$build")/deb/$package
  rm -rf "$stage" "$stage-objects"
  mkdir -p "$stage/DEBIAN"
  MAKEFLAGS='' make -s install-native BUILD="$stage-objects" PG_CONFIG="$config" DESTDIR="$stage" >/dev/null
  strip --strip-unneeded "$stage$("$config" --pkglibdir)/rowrelay_native.so"
  cat >"$stage/DEBIAN/control" <<END
Package: $package
Version: $version
Architecture: $architecture
Maintainer: $maintainer
Section: database
Priority: optional
Depends: postgresql-$major, libc6
Description: captures rows for rowrelay in C, on PostgreSQL $major
 rowrelay copies every change of chosen PostgreSQL tables to other systems. With
 this module on the server, capturing a change costs its writer less. Before you
 remove it, run in each database that uses it:
 select * from rowrelay.capture_natively(false); drop extension rowrelay_native;
END
  dpkg-deb --root-owner-group --build "$stage" "$build/${package}_${version}_$architecture.deb" >/dev/null
  echo "$build/${package}_${version}_$architecture.deb"
done
