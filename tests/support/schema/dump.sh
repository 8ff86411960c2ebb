#!/bin/sh
# Prints, as one plain SQL script for any client, what `rowrelay init` of this checkout installs where nothing is. For
# each released version of the schema there is one here: see README.md.
set -eu
cd "$(dirname "$0")/../../../schema"
awk '
  /^\\ir / { while ((getline line < $2) > 0) print line; close($2); next }
  /^\\/ || /\\gset$/ { next } # it is a new installation: all migrations are wanted
  { print }' install.sql
