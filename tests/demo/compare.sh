#!/usr/bin/env bash
#
# compare.sh SOURCE TARGET SCHEMA [DIR [QUERY KEYS]]: compares every table of a schema row by row with the table of the
# same name in another database, both given as conninfo. Exit 1 where anything differs.
#
# QUERY is a file with the query of a document, named as its table; it is run for all keys of column KEYS, given as
# TABLE.COLUMN, and compared with that table, but for the table's column "search". Rows are matched by the first column.
#
# Prints a line for each table: name, rows, missing in the target, extra in the target, different. A row is its columns as
# text; rows are matched by primary key, and where there is none by all columns and a running number among equals, so that
# a row which is there once too often shows.
#
# With DIR, DIR/latency gets a line for each row that is equal on both sides: table, when the source committed its last
# version, and how many milliseconds later the target did. Both servers need track_commit_timestamp, and one clock.
set -euo pipefail

source=$1 target=$2 schema=$3 dir=${4:-} document=${5:-} keys=${6:-}
psql=$("$(dirname "$0")/../support/pg.sh" bin)/psql
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

query() { "$psql" -XAtq -v ON_ERROR_STOP=1 "$@"; }

# Name and query of each table. The query is made from the source's catalog and run on both sides.
tables() {
  query -d "$source" -F $'\t' -v schema="$schema" -v committed="${dir:+1}" <<'SQL'
select c.oid::regclass,
       format('copy (select coalesce(%1$s, row(t.*::text, row_number() over (partition by t.*::text))::text), t.*::text, %2$s '
              'from (select %3$s, xmin as "row version" from %4$s) s, lateral (select %3$s) t) to stdout',
              coalesce('row(' || k.columns || ')::text', 'null'),
              case when :'committed' = '' then 'null'
                   else 'extract(epoch from pg_xact_commit_timestamp(nullif("row version", ''2'')))' end,
              a.columns, c.oid::regclass)
  from pg_class c
  left join pg_index i on i.indrelid = c.oid and i.indisprimary
  cross join lateral (select string_agg(quote_ident(attname), ', ' order by attnum) as columns
                        from pg_attribute where attrelid = c.oid and attnum > 0 and not attisdropped) a
  cross join lateral (select string_agg('t.' || quote_ident(attname), ', ' order by attnum) as columns
                        from pg_attribute where attrelid = c.oid and attnum = any (i.indkey)) k
 where c.relnamespace = to_regnamespace(quote_ident(:'schema')) and c.relkind in ('r', 'p') and not c.relispartition
 order by c.relname
SQL
}

# compare NAME COPY-AT-SOURCE COPY-AT-TARGET: each gives key, row as text, when it was committed.
compare() {
  query -d "$source" -c "$2" >"$work/source"
  query -d "$target" -c "$3" >"$work/target" 2>"$work/error" || { status=1; sed 's/^/compare.sh: /; q' "$work/error" >&2; }
  awk -F '\t' -v OFS='\t' -v table="$1" -v latency="${dir:+$dir/latency}" '
    FILENAME == ARGV[1] { text[$1] = $2; committed[$1] = $3; rows++; next }
    !($1 in text) { extra++; next }
    text[$1] != $2 { different++ }
    latency != "" && text[$1] == $2 && committed[$1] != "\\N" && $3 != "\\N" {
      printf "%s\t%.3f\t%.2f\n", table, committed[$1], 1000 * ($3 - committed[$1]) >> latency
    }
    { delete text[$1] }
    END {
      for (key in text) missing++
      print table, rows + 0, missing + 0, extra + 0, different + 0
      exit missing + extra + different > 0
    }' "$work/source" "$work/target" || status=1
}

status=0
[[ -z $dir ]] || : >"$dir/latency"
tables >"$work/tables"
while IFS=$'\t' read -r table copy; do
  compare "$table" "$copy" "$copy"
done <"$work/tables"
if [[ -n $document ]]; then
  name=$(basename "$document" .sql)
  columns=$(query -d "$target" -c "select string_agg(quote_ident(attname), ', ' order by attnum) from pg_attribute
                                    where attrelid = '$name'::regclass and attnum > 0 and attname <> 'search'")
  compare "$name" \
    "copy (select d.${columns%%,*}, d::text, null
             from ($(sed "s/\$1/array(select ${keys##*.} from ${keys%.*})/" "$document")) as d) to stdout" \
    "copy (select ${columns%%,*}, row($columns)::text, null from $name) to stdout"
fi
exit $status
