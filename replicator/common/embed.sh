#!/bin/sh
# Turns SQL files, and those of the console, into C, so that the program is one file.
#
#   embed.sh queries OUTPUT FILE.sql…     every file becomes `const struct query QUERY_name` (see pgconn.h)
#   embed.sh schema OUTPUT install.sql    the files that install.sql names with \ir become SCHEMA_FILES, in that order
#   embed.sh pages OUTPUT FILE…           every file becomes a string PAGE_name_ext
#
# OUTPUT is a path without its end: OUTPUT.c and OUTPUT.h are written. A text becomes one string literal for each of
# its lines, which the compiler joins.
set -eu
LC_ALL=C # SQL is bytes here
export LC_ALL

kind=$1 output=$2
shift 2

# Prints the SQL of a file as C string literals. `?` is escaped because of trigraphs.
literals() {
  awk '{ gsub(/[\\"?]/, "\\\\&"); gsub(/\r/, "\\r"); printf "    \"%s\\n\"\n", $0 } END { if (NR == 0) print "    \"\"" }' "$1"
}

# Of paths, the numbers of those that are migrations.
migration_numbers() {
  sed -n 's,^migrations/0*\([0-9][0-9]*\)_.*,\1,p'
}

# The columns that queries say they give, "-- Gives LAYOUT: name, name …", also over several lines: one line for each query
# that says so, of its name, the layout, and the names of its columns. What has the same layout has the same columns.
layouts() {
  awk '
    FNR == 1 { open = 0 }
    open || /^-- Gives [a-z_]+: / {
      if (!open) {
        name = FILENAME
        gsub(/.*\/|\.sql$/, "", name)
        layout = $3
        sub(/:$/, "", layout)
        columns = ""
        sub(/^-- Gives [a-z_]+: /, "")
      }
      sub(/^-- */, "")
      columns = columns " " $0
      open = columns ~ /,$/
      if (open)
        next
      gsub(/,/, "", columns)
      if (layout in known && known[layout] != columns) {
        print FILENAME ": layout " layout " has other columns elsewhere" > "/dev/stderr"
        exit 1
      }
      known[layout] = columns
      print name, layout columns
    }' "$@"
}

queries_header() {
  echo '/* Made by embed.sh from the folders sql, and files of schema. */'
  echo '#pragma once'
  echo '#include <stddef.h>'
  echo '#include "postgres/pgconn.h"'
  for file; do
    echo "extern const struct query QUERY_$(basename "$file" .sql);"
  done
  echo '/* Columns of the queries that say what they give. */'
  layouts "$@" | cut -d ' ' -f 2- | LC_ALL=C sort -u | awk '{
    printf "enum {"
    for (i = 2; i <= NF; i++)
      printf " %s_%s,", toupper($1), toupper($i)
    printf " %s_COLUMN_COUNT };\n", toupper($1)
  }'
  echo '/* All of them. */'
  echo 'extern const struct query *const QUERIES[];'
  echo 'extern const size_t QUERY_COUNT;'
}

queries_source() {
  echo "#include \"$(basename "$output").h\""
  for file; do
    name=$(basename "$file" .sql)
    echo "const struct query QUERY_$name = {"
    echo "    .name = \"$name\","
    echo '    .text ='
    literals "$file"
    echo '    ,'
    layouts "$file" | awk '{
      printf "    .columns = (const char *const[]){"
      for (i = 3; i <= NF; i++)
        printf "\"%s\", ", $i
      print "NULL},"
    }'
    echo '};'
  done
  echo 'const struct query *const QUERIES[] = {'
  for file; do
    echo "    &QUERY_$(basename "$file" .sql),"
  done
  echo '};'
  echo 'const size_t QUERY_COUNT = sizeof QUERIES / sizeof QUERIES[0];'
}

schema_header() {
  cat <<'END'
/* Made by embed.sh from schema/install.sql. */
#pragma once
#include <stddef.h>
struct schema_file {
  const char *path; /* as install.sql names it */
  int migration;    /* its number; 0: not a migration, to be run at every installation */
  const char *text;
};
/* In the order in which they are to be run. */
extern const struct schema_file SCHEMA_FILES[];
extern const size_t SCHEMA_FILE_COUNT;
/* The version of a schema to which all migrations have been applied. */
END
  echo "#define SCHEMA_NEWEST $(sed -n 's/^\\ir  *//p' "$1" | migration_numbers | sort -n | tail -n 1)"
}

schema_source() {
  install=$1
  echo "#include \"$(basename "$output").h\""
  echo 'const struct schema_file SCHEMA_FILES[] = {'
  sed -n 's/^\\ir  *//p' "$install" | while read -r path; do
    number=$(echo "$path" | migration_numbers)
    echo "    {.path = \"$path\","
    echo "     .migration = ${number:-0},"
    echo '     .text ='
    literals "$(dirname "$install")/$path"
    echo '    },'
  done
  echo '};'
  echo 'const size_t SCHEMA_FILE_COUNT = sizeof SCHEMA_FILES / sizeof SCHEMA_FILES[0];'
}

page_name() {
  echo "PAGE_$(basename "$1" | tr '.-' '__')"
}

pages_header() {
  echo '/* Made by embed.sh from replicator/monitor/page. */'
  echo '#pragma once'
  for file; do
    echo "extern const char $(page_name "$file")[];"
  done
}

pages_source() {
  echo "#include \"$(basename "$output").h\""
  for file; do
    echo "const char $(page_name "$file")[] ="
    literals "$file"
    echo '    ;'
  done
}

mkdir -p "$(dirname "$output")"
# Written aside first: what is there is complete.
"${kind}_source" "$@" >"$output.c.new"
"${kind}_header" "$@" >"$output.h.new"
mv "$output.c.new" "$output.c"
mv "$output.h.new" "$output.h"
