#!/bin/sh
# Prints the C sources of replicator/ that changed in the day before the newest commit, or since then; for a header, the source
# beside it. All of them where git does not know.
set -eu
cd "$(dirname "$0")/../.."

if newest=$(git log -1 --format=%ct 2>/dev/null) && base=$(git rev-list -1 --before="@$((newest - 86400))" HEAD) && [ -n "$base" ]; then
  { git diff --name-only "$base" -- replicator && git ls-files --others --exclude-standard -- replicator; } |
    sed -n 's/\.[ch]$/.c/p' | sort -u | while read -r source; do [ ! -e "$source" ] || echo "$source"; done
else
  find replicator -name '*.c'
fi
