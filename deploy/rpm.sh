#!/bin/sh
# make rpm: packs what `make install` installs into build/rowrelay-VERSION-1.ARCHITECTURE.rpm. The libraries that it asks
# for are those of this machine, so build it on a system of the kind that it is for. Says what is missing, and installs
# nothing.
#
#   deploy/rpm.sh BUILD    VERSION=… builds it under another version, to try an upgrade; OUT=… puts it elsewhere
set -eu
cd "$(dirname "$0")/.."

build=$1
version=${VERSION:-$(sed -n 's/^#define ROWRELAY_VERSION "\(.*\)"/\1/p' replicator/common/version.h)}
command -v rpmbuild >/dev/null || {
  echo "rowrelay: an RPM package is built with rpmbuild, which is not here" >&2
  echo "hint: apt-get install rpm, or dnf install rpm-build" >&2
  exit 1
}

mkdir -p "${OUT:=$build}"
OUT=$(realpath "$OUT")
top=$OUT/rpm
stage=$top/stage
rm -rf "$top"
mkdir -p "$stage"
# The same sources make the same package.
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || date +%s)}
export SOURCE_DATE_EPOCH

# It is quiet unless something is wrong.
{
  # shellcheck disable=SC2086 # it may have words of its own
  ${MAKE:-make} -s BUILD="$build" PREFIX=/usr DESTDIR="$stage" UNITDIR=/usr/lib/systemd/system install &&
    strip "$stage/usr/bin/rowrelay" &&
    gzip -9n "$stage"/usr/share/man/man1/*.1 &&
    rpmbuild -bb --define "_topdir $top" --define "stage $stage" --define "version $version" \
      --define "license_of_it $(sed -n '1s/ License$//p' LICENSE)" --define "_buildhost rowrelay" \
      --define "use_source_date_epoch_as_buildtime 1" --define "clamp_mtime_to_source_date_epoch 1" \
      --define "_rpmdir $top/out" deploy/rpm/rowrelay.spec
} </dev/null >"$top/log" 2>&1 || {
  cat "$top/log" >&2
  exit 1
}
mv "$top"/out/*/rowrelay-"$version"-1.*.rpm "$OUT"
rm -rf "$top/stage" "$top/BUILDROOT"
ls "$OUT/rowrelay-$version-1."*.rpm
