# shellcheck shell=bash
#
# parts.sh: servers that are put together from their Maven artifacts, which are fetched once, into build/NAME. For scripts
# that have sourced server.sh; NAME is theirs, without ".sh", and NAME/pom.xml beside them says what is fetched. With KAFKA=4.4.0
# and the like another version is.
parts_name=${name%.sh}
parts_version=${parts_name^^}
parts_version=${!parts_version:-}
parts=$(realpath -m "$here/../../build/$parts_name${parts_version:+-$parts_version}")

# Ends with cannot() where they cannot be had. `compile` makes of them what the script needs, if it needs anything.
fetch_parts() { # TOOL SECONDS
  local lock
  mkdir -p "$parts"
  exec {lock}>"$parts/lock"
  flock "$lock"
  if [[ ! $parts/complete -nt $here/$parts_name/pom.xml ]]; then
    command -v "$1" >/dev/null || cannot "there is no $1 here"
    command -v mvn >/dev/null || cannot "there is no Maven here"
    [[ ! -e $parts/failed || -n $(find "$parts/failed" -mmin +60) ]] || cannot "its parts could not be fetched a while ago"
    if ! timeout "$2" mvn -B -q -f "$here/$parts_name/pom.xml" dependency:copy-dependencies -DincludeScope=runtime \
      ${parts_version:+"-D$parts_name=$parts_version"} -DoutputDirectory="$parts/lib" >"$parts/log" 2>&1; then
      touch "$parts/failed"
      tail -n 3 "$parts/log" >&2
      cannot "its parts cannot be fetched"
    fi
    touch "$parts/complete"
  fi
  compile
  chmod -R a+rX "$parts"
  exec {lock}>&-
}

compile() { :; }

# Where the server's user may not go, it takes the parts along.
take_parts() {
  rm -rf "$dir/parts"
  if as_owner test -r "$parts/complete" 2>/dev/null; then
    ln -s "$parts" "$dir/parts"
  else
    cp -r "$parts" "$dir/parts"
  fi
}
