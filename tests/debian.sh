#!/usr/bin/env bash
# Tries the last commit on bare Debians: a fresh clone, `make demo`, and the tests that SUITE or TEST choose. What
# `make check-debian` runs. Ends with a line for each Debian and one line for all; exit status 1 when something failed.
# Wants root, debootstrap and Debian's mirror; without them it says that it is skipped.
#
#   tests/debian.sh [RELEASE…]    bookworm, trixie and forky when none is named; SUITE=name or TEST=pattern as for check.sh;
#                                 WHOLE=1 runs all that `make check` runs
#
# DIR keeps the bare systems (/var/cache/rowrelay-debian), which are not made again, and a log of each run. MIRROR names
# another mirror than the one that this machine's apt asks.
set -uo pipefail
cd "$(dirname "$0")/.." || exit 1

skip() { echo "skipped: $*"; echo "0 passed, 0 failed, 1 skipped"; exit 0; }
[[ $(id -u) == 0 ]] || skip "root is needed to change into another Debian"
command -v debootstrap >/dev/null || skip "there is no debootstrap here: apt-get install debootstrap"

releases=("$@")
((${#releases[@]})) || releases=(bookworm trixie forky)
# Those where most depends on libraries.
[[ -n ${SUITE:-}${TEST:-}${WHOLE:-} ]] || SUITE='@(capture|containers|delivery|kafka|listeners|nats|package|rabbit|redis|roles|search_wire|types|verify|webhook*)'
dir=${DIR:-/var/cache/rowrelay-debian}
mirror=${MIRROR:-http://deb.debian.org/debian}
work=$(mktemp -d /tmp/rowrelay-debian-XXXXXX)
trap 'rm -rf --one-file-system "$work"' EXIT
mkdir -p "$dir"
passed=0 failed=0 skipped=0

make_bare() { # RELEASE: which debootstrap may be older than
  local script=/usr/share/debootstrap/scripts/$1
  [[ -e $script ]] || script=${script%/*}/sid
  rm -rf --one-file-system "$dir/$1.new"
  debootstrap --variant=minbase "$1" "$dir/$1.new" "$mirror" "$script" || return
  echo 'Acquire::Check-Valid-Until "false";' >"$dir/$1.new/etc/apt/apt.conf.d/90mirror" || return # it may lag behind
  mv "$dir/$1.new" "$dir/$1"
}

# Processes and mounts of its own, so that nothing is left of either.
inside() { # COMMAND…
  # shellcheck disable=SC2016 # it is for the other shell
  unshare --mount --pid --fork --kill-child sh -euc '
    mount -t proc proc "$0/proc"
    mount --rbind /sys "$0/sys"
    mount --rbind /dev "$0/dev"
    mount -t tmpfs tmpfs "$0/dev/shm"
    exec env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive \
      "$(command -v chroot)" "$0" "$@"' "$work/root" "$@"
}

try_release() { # RELEASE
  [[ -e $dir/$1 ]] || make_bare "$1" || return
  rm -rf --one-file-system "$work/root"
  cp -a "$dir/$1" "$work/root" && cp /etc/resolv.conf "$work/root/etc/" || return
  inside apt-get -q update && inside apt-get -q -y --no-install-recommends install make git || return
  git clone --quiet --no-hardlinks . "$work/root/srv/rowrelay" || return
  inside make -C /srv/rowrelay demo || return
  echo "---- demo passed after $((SECONDS - started)) s"
  inside make -C /srv/rowrelay check SUITE="${SUITE:-}" TEST="${TEST:-}"
}

number() { sed -nE "s/.*\b([0-9]+) $1.*/\1/p" <<<"$summary"; }

for release in "${releases[@]}"; do
  log=$dir/$release.log
  started=$SECONDS
  printf '%s: ' "$release"
  try_release "$release" >"$log" 2>&1
  summary=$(tail -n 1 "$log" | grep -E '^[0-9]+ passed, ')
  if [[ -z $summary ]]; then
    tail -n 20 "$log"
    summary="0 passed, 1 failed"
  fi
  passed=$((passed + $(number passed)))
  failed=$((failed + $(number failed)))
  skipped=$((skipped + $(number skipped) + 0))
  demo=$(grep '^---- demo passed' "$log") && passed=$((passed + 1)) || demo="---- the demo failed"
  echo "${demo#---- }; $summary, after $((SECONDS - started)) s (see $log)"
  grep -a '^\[FAIL\]' "$log" | sort -u | sed 's/^/  /'
done

echo "$passed passed, $failed failed, $skipped skipped"
[[ $failed == 0 && $passed -gt 0 ]]
