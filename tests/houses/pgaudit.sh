#!/usr/bin/env bash
# pgaudit promises a line in the log for each statement on an audited object, and none for others.
# shellcheck source-path=SCRIPTDIR
source "$(dirname "$0")/application.sh"

needs "$(dirname "$bin")/lib/pgaudit.so" postgresql-15-pgaudit
# As triggers/README.md says, so that what the triggers insert is not logged.
server source '' shared_preload_libraries=pgaudit pgaudit.role=auditor pgaudit.log=ddl log_line_prefix='%d %u '
at "$source dbname=postgres" 'create role auditor'
arrange() { at "$source dbname=$1" 'create extension pgaudit'; }
settle() { at "$source dbname=$1" 'grant insert, update, delete on all tables in schema public to auditor'; }

# What the application did, and with it rowrelay in its session.
lines() { sed -n "s/^$1 app LOG:  AUDIT: [A-Z]*,[0-9]*,[0-9]*,//p" "$dir/source/log"; }
end() {
  diff <(lines bare) <(lines "$1") || fail 'the log of the application is another one'
  [[ $(lines "$1" | grep -c INSERT) -gt 20 ]] || fail "it has no lines of $1"
}
application_in_sql tests/houses/observers
ok
