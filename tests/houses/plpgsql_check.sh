#!/usr/bin/env bash
# plpgsql_check in its passive mode checks each function that a session runs, promises errors of the application's functions alone, and
# fails none that is right.
# shellcheck source-path=SCRIPTDIR
source "$(dirname "$0")/application.sh"

needs "$(dirname "$bin")/lib/plpgsql_check.so" postgresql-15-plpgsql-check
server source '' shared_preload_libraries=plpgsql,plpgsql_check plpgsql_check.mode=every_start \
  plpgsql_check.fatal_errors=on
# By statement, it takes one function for several events for a mistake: triggers/README.md.
ways=(row module)
# Functions that run before what they name is made, as those of init, fail such a check.
arrange() { at "$source dbname=postgres" "alter role relay set plpgsql_check.mode = by_function"; }
application_in_sql tests/houses/observers
ok
