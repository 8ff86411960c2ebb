#!/usr/bin/env bash
# periods promises the rows of a table as they were (system versioning) and unique keys within a period, by triggers and event
# triggers of its own, which fire first.
# shellcheck source-path=SCRIPTDIR
source "$(dirname "$0")/application.sh"

share=${bin%/bin}
needs "${share/lib/share}/extension/periods.control" postgresql-15-periods

server source ''
# Its catalogue belongs to the superuser, who makes the tables' periods.
arrange() { at "$source dbname=$1" 'create extension btree_gist' 'create extension periods'; }
# They run at each of the thousand statements of init and uninstall, which takes minutes.
guards() { # enable|disable
  at "$source dbname=$PGDATABASE" "alter event trigger periods_health_checks $1" \
    "alter event trigger periods_drop_protection $1" "alter event trigger periods_rename_following $1"
}
relay() {
  case $1 in init | uninstall) guards disable ;; esac
  "$rowrelay" "$@" >"$dir/said" 2>&1 || { cat "$dir/said"; fail "rowrelay $* failed"; }
  case $1 in init | uninstall) guards enable ;; esac
}
# It takes from its history table the rights that capture needs.
must_capture=(public.staff public.booking)
ways=(row)
application_in_sql tests/houses/periods
ok
