#!/usr/bin/env bash
# auto_explain, pg_stat_statements and hypopg observe statements and promise not to change what they do; sessions with every check of
# PL/pgSQL on observe the application's functions, and fail none that is right.
# shellcheck source-path=SCRIPTDIR
source "$(dirname "$0")/application.sh"

libraries=auto_explain,pg_stat_statements
server source '' shared_preload_libraries=$libraries auto_explain.log_min_duration=0 auto_explain.log_analyze=on \
  auto_explain.log_nested_statements=on auto_explain.log_triggers=on auto_explain.log_verbose=on pg_stat_statements.track=all \
  plpgsql.extra_errors=all plpgsql.extra_warnings=all plpgsql.check_asserts=on
arrange() {
  at "$source dbname=$1" 'create extension pg_stat_statements' \
    "do \$\$ begin create extension hypopg; exception when others then raise log 'no hypopg'; end \$\$" \
    "grant execute on all functions in schema public to app"
}
application_in_sql tests/houses/observers
ok
