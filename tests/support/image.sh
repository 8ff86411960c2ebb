#!/bin/sh
#
# image.sh: runs the program where there is nothing but what deploy/container/Containerfile puts into the image: what its
# last RUN puts together, of this machine's libraries. No container engine is needed; root is.
#
#   image.sh PROGRAM DIRS COMMAND…     DIRS, separated by colons, are seen there, too: sockets of servers
set -eu

program=$1
dirs=$2
shift 2
recipe=$PWD/deploy/container/Containerfile
image=$(mktemp -d)
work=$(mktemp -d)
# What is mounted there is not seen from out here, so nothing else goes.
trap 'rm -rf "$image" "$work"' EXIT
chmod 755 "$image"
cp LICENSE deploy/container/sbom.sh "$work"
sed -n '/^RUN install -D -s/,/[^\\]$/p' "$recipe" |
  sed "s,^RUN ,,; s,/image,$image,g; s,build/rowrelay,$program,g" >"$work/step"
(cd "$work" && sh -e step >/dev/null)

export image dirs
# shellcheck disable=SC2016 # it is for the other shell
unshare --mount sh -euc '
  IFS=:
  for dir in $dirs; do
    mkdir -p "$image$dir"
    mount --bind "$dir" "$image$dir"
  done
  exec env -i HOME=/home/rowrelay SSL_CERT_FILE=/etc/ssl/certs/ca-certificates.crt \
    "$(command -v chroot)" --userspec=65532:65532 "$image" /usr/bin/rowrelay "$@"' sh "$@"
