#!/bin/sh
# make deb: builds the Debian package into build/rowrelay_VERSION_ARCHITECTURE.deb, from a copy of the sources, so that
# nothing else of the checkout is touched; and one of the server module for each PostgreSQL whose headers are here. Says
# what is missing, and installs nothing.
#
#   deploy/deb.sh BUILD    VERSION=… builds it under another version, to try an upgrade
set -eu
cd "$(dirname "$0")/.."

build=$1
version=${VERSION:-$(sed -n 's/^#define ROWRELAY_VERSION "\(.*\)"/\1/p' replicator/common/version.h)}
if ! command -v dpkg-buildpackage >/dev/null || ! command -v dh >/dev/null; then
  echo "rowrelay: a Debian package is built with Debian's tools, which are not here" >&2
  echo "hint: apt-get install dpkg-dev debhelper" >&2
  exit 1
fi

stage=$build/deb/rowrelay-$version
rm -rf "$build/deb"
mkdir -p "$stage"
cp -a Makefile LICENSE README.md deploy replicator schema triggers "$stage"
cp -a deploy/debian "$stage/debian"
# The same sources make the same package.
epoch=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || date +%s)}
cat >"$stage/debian/changelog" <<END
rowrelay ($version) unstable; urgency=medium

  * Version $version; the history is in the sources.

 -- $(sed -n 's/^Maintainer: //p' deploy/debian/control)  $(date -R -u -d "@$epoch")
END

# It is quiet unless something is wrong.
(cd "$stage" && dpkg-buildpackage --build=binary --no-sign --jobs=auto) >"$build/deb/log" 2>&1 || {
  cat "$build/deb/log" >&2
  exit 1
}
mv "$build/deb/rowrelay_${version}_"*.deb "$build"
ls "$build/rowrelay_${version}_"*.deb
deploy/native_deb.sh "$build" "$version"
