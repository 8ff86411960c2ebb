#!/usr/bin/env bash
# pg_partman promises partitions made ahead, rows moved out of the default partition into those that they belong to, and old partitions
# taken away, by an owner without superuser's rights.
# shellcheck source-path=SCRIPTDIR
source "$(dirname "$0")/application.sh"

share=${bin%/bin}
needs "${share/lib/share}/extension/pg_partman.control" postgresql-15-partman

server source ''
arrange() {
  at "$source dbname=$1" 'create schema partman' 'create extension pg_partman schema partman' \
    'grant all on schema partman to app' 'grant all on all tables in schema partman to app' \
    'grant execute on all functions in schema partman to app' 'grant execute on all procedures in schema partman to app'
}
# Tables of partitions are captured by row.
ways=(row)
application_in_sql tests/houses/partman
ok
