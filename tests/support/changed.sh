#!/bin/sh
# Prints what changed in the day before the newest commit, or since then: all of it where git does not know.
#   changed.sh          the C sources of replicator/; for a header, the source beside it
#   changed.sh models   the names of the models in tests/model; when their script changed, one of them besides
set -eu
cd "$(dirname "$0")/../.."

changed() { # FOLDER
  if newest=$(git log -1 --format=%ct 2>/dev/null) && base=$(git rev-list -1 --before="@$((newest - 86400))" HEAD) && [ -n "$base" ]; then
    git diff --name-only "$base" -- "$1" && git ls-files --others --exclude-standard -- "$1"
  else
    find "$1" -type f
  fi
}

if [ "${1:-}" = models ]; then
  { if changed tests/model | grep -q '\.sh$'; then echo tests/model/zombie.pml; fi && changed tests/model; } |
    sed -n 's,.*/\([^/]*\)\.pml$,\1,p' | sort -u | while read -r model; do [ ! -e "tests/model/$model.pml" ] || echo "$model"; done
else
  changed replicator | sed -n 's/\.[ch]$/.c/p' | sort -u | while read -r source; do [ ! -e "$source" ] || echo "$source"; done
fi
