#!/usr/bin/env bash
# Tries the Debian package: lintian must accept it, and in a bare Debian it must install, upgrade, keep what was
# configured, be removed, and leave nothing when it is purged; then this Debian is booted, for tests/package-service.sh.
# Exit status 1 when something is wrong. Wants root, and systemd-nspawn for the services.
#
#   tests/package.sh BUILD    ROOT=DIR is a bare Debian that is copied in the place of one that debootstrap makes
set -euo pipefail
cd "$(dirname "$0")/.."

fail() { echo "package: $*" >&2; exit 1; }
[[ $(id -u) == 0 ]] || fail "root is needed to change into another Debian"
[[ -n ${ROOT:-} ]] || command -v debootstrap >/dev/null || fail "debootstrap is needed: apt-get install debootstrap"

dir=$(mktemp -d "${TMPDIR:-/tmp}/rowrelay-package-XXXXXX")
trap 'rm -rf --one-file-system "$dir"' EXIT
root=$dir/root
deb=$(deploy/deb.sh "$1" | sed -n 1p)
echo "built $deb"

if command -v lintian >/dev/null; then
  lintian --allow-root --fail-on error,warning --display-info "$deb" || fail "lintian does not accept it"
  echo "lintian accepts it"
else
  echo "skipped: there is no lintian here"
fi

# The same package as of an older version, to be upgraded from.
dpkg-deb --raw-extract "$deb" "$dir/older"
sed -i 's/^Version: .*/Version: 0.0.1/' "$dir/older/DEBIAN/control"
mkdir "$dir/debs"
dpkg-deb --root-owner-group --build "$dir/older" "$dir/debs/older.deb" >/dev/null
cp "$deb" "$dir/debs/newer.deb"

echo "makes a bare Debian"
if [[ -n ${ROOT:-} ]]; then
  mkdir "$root"
  tar -C "$ROOT" --one-file-system --exclude=./proc --exclude=./sys --exclude=./dev -c . | tar -C "$root" -x
  mkdir -p "$root"/{proc,sys,dev}
  mknod -m 666 "$root/dev/null" c 1 3
else
  # The package needs the libraries of the Debian that has built it.
  debootstrap --variant=minbase "$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)" "$root" >"$dir/debootstrap.log" || {
    tail "$dir/debootstrap.log" >&2
    fail "debootstrap failed"
  }
fi
cp /etc/resolv.conf "$root/etc/resolv.conf"
cp "$dir"/debs/*.deb "$root/tmp/"

inside() { chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8 "$@"; }
quietly() { "$@" >"$dir/log" 2>&1 || { cat "$dir/log" >&2; fail "failed: $*"; }; }
apt() { quietly inside apt-get -q -y --no-install-recommends "$@"; }
# All files but those in which packages keep books.
files() {
  inside find / -xdev \( -path /proc -o -path /sys -o -path /dev -o -path /tmp -o -path /var/lib/dpkg -o -path /var/lib/apt \
    -o -path /var/cache -o -path /var/log -o -path /run \) -prune -o -printf '%p %y %m %l\n' | sort
}

# What it needs stays, and is no leftover.
apt update
depends=$(dpkg-deb --field "$deb" Depends | sed 's/([^)]*)//g; s/,/ /g')
# shellcheck disable=SC2086
apt install $depends
files >"$dir/before"

apt install /tmp/older.deb
inside rowrelay --version >/dev/null || fail "the program does not start"
status=0
inside rowrelay -d 'host=/nowhere' status 2>/dev/null || status=$?
[[ $status == 1 ]] || fail "status of a source that is not there ended with $status"
for file in usr/share/man/man1/rowrelay-run.1.gz lib/systemd/system/rowrelay@.service usr/share/rowrelay/schema/install.sql; do
  [[ -e $root/$file ]] || fail "/$file was not installed"
done
env=$root/etc/rowrelay/rowrelay.env
[[ $(stat -c %a:%U "$env") == 600:root ]] || fail "others can read $env"
[[ -z $(find "$root/etc/systemd/system" -name 'rowrelay*') ]] || fail "a unit is enabled that nobody has configured"
echo "installs"

echo 'PGPASSWORD=mine' >>"$env"
touch "$root/etc/rowrelay/shop.env"
apt install /tmp/newer.deb
# shellcheck disable=SC2016 # dpkg-query reads that
[[ $(inside dpkg-query -W -f '${Version}' rowrelay) != 0.0.1 ]] || fail "it was not upgraded"
grep -q mine "$env" || fail "the upgrade has overwritten what was configured"
[[ $(stat -c %a "$env") == 600 ]] || fail "others can read $env after the upgrade"
echo "upgrades, and keeps what was configured"

apt remove rowrelay
[[ ! -e $root/usr/bin/rowrelay && ! -e $root/usr/share/rowrelay ]] || fail "removing it leaves the program"
grep -q mine "$env" || fail "removing it takes away what was configured"
rm "$root/etc/rowrelay/shop.env"
apt purge rowrelay
files >"$dir/after"
diff "$dir/before" "$dir/after" >&2 || fail "purging it leaves something"
echo "is removed, and purged without trace"

# The services, where that Debian can be booted in a container.
command -v systemd-nspawn >/dev/null || {
  echo "skipped: services, for there is no systemd-nspawn here: apt-get install systemd-container"
  exit
}
printf '#!/bin/sh\nexit 101\n' >"$root/usr/sbin/policy-rc.d" # nothing starts before there is a systemd
chmod 755 "$root/usr/sbin/policy-rc.d"
apt install systemd systemd-sysv dbus postgresql procps
rm "$root/usr/sbin/policy-rc.d"
cp "$dir"/debs/*.deb tests/package-service.sh "$root/root/"
cat >"$root/etc/systemd/system/try.service" <<'END'
[Unit]
Description=tests/package-service.sh
After=multi-user.target
SuccessAction=exit
FailureAction=exit
FailureActionExitStatus=1
[Service]
ExecStart=/root/package-service.sh $STAGE
EnvironmentFile=/root/stage
StandardOutput=append:/root/try.log
StandardError=inherit
END
mkdir -p "$root/etc/systemd/system/multi-user.target.wants"
ln -s ../try.service "$root/etc/systemd/system/multi-user.target.wants/"

# Without a systemd that would give the container a control group, it gets one here, for it takes all that is in its own.
name=rowrelay-package-$$
groups=()
nspawn=(systemd-nspawn --boot --directory="$root" --machine="$name" --register=no --private-network --resolv-conf=off)
if [[ ! -d /run/systemd/system ]]; then
  nspawn+=(--keep-unit)
  for hierarchy in /sys/fs/cgroup{,/unified,/systemd}; do
    [[ ! -e $hierarchy/cgroup.procs ]] || groups+=("$hierarchy/$name")
  done
fi
boot() {
  echo "STAGE=$1" >"$root/root/stage"
  rm -f "$root/root/try.log"
  local group status=0
  for group in "${groups[@]}"; do mkdir "$group"; done
  (
    for group in "${groups[@]}"; do echo "$BASHPID" >"$group/cgroup.procs"; done
    exec timeout --kill-after=10 300 unshare --mount "${nspawn[@]}" </dev/null >"$dir/boot.log" 2>&1
  ) || status=$?
  for group in "${groups[@]}"; do find "$group" -depth -type d -exec rmdir {} +; done
  rm -rf --one-file-system "/run/systemd/nspawn/propagate/$name"
  if [[ ! -e $root/root/try.log ]]; then
    echo "skipped: services, for systemd does not boot in a container here: $(tail -n 1 "$dir/boot.log")"
    exit
  fi
  [[ $status == 0 ]] || { cat "$root/root/try.log" >&2; fail "a service does not do what it should"; }
  sed -n 's/^ok: /under systemd it /p' "$root/root/try.log"
}
boot first
boot again
