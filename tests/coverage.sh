#!/usr/bin/env bash
# Says how many lines of each source of replicator/ the tests have run, fewest first, and of all together.
#
#   tests/coverage.sh BUILD    a build with COVERAGE=1, after `make check`
#
# What a process that was killed had run is not counted.
set -euo pipefail
cd "$(dirname "$0")/.."

find "$1/replicator" -name '*.gcda' -exec gcov -n {} + 2>/dev/null |
  awk '
    /^File/ { file = $2; gsub(/\x27/, "", file) }
    /^Lines executed/ && file ~ /^replicator\/.*\.c$/ {
      split($2, part, /[:%]/)
      lines[file] = $4
      run[file] = part[2] * $4 / 100
      file = ""
    }
    END {
      for (name in lines) {
        printf "%5.1f %% of %4d  %s\n", 100 * run[name] / lines[name], lines[name], name | "sort -n"
        all += lines[name]
        all_run += run[name]
      }
      close("sort -n")
      printf "%5.1f %% of %d lines in %d files\n", 100 * all_run / all, all, length(lines)
    }'
