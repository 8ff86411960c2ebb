#!/usr/bin/env bash
# pg_cron promises that a job runs each minute as the role that scheduled it, in a session of its own or in a background worker, and
# records what its command returned.
# shellcheck source-path=SCRIPTDIR
source "$(dirname "$0")/application.sh"

needs "$(dirname "$bin")/lib/pg_cron.so" postgresql-15-cron

# Two servers, one for each kind of job, so that both wait for the same minute.
for name in sessions workers; do
  kind=off
  if [[ $name == workers ]]; then kind=on; fi
  server $name '' shared_preload_libraries=pg_cron cron.use_background_workers=$kind cron.host="$dir/$name" \
    cron.database_name=bare max_worker_processes=20
  source=${!name}
  export PGHOST=$dir/$name PGPORT=5432 PGUSER=relay
  at "$source dbname=postgres" 'create role app login' 'create role relay login in role app'
  open bare
  moment="with jobs in $name"
  at "$source dbname=bare" 'create extension pg_cron' 'grant usage on schema cron to app'
  at "$source dbname=bare user=app" 'create table item (id serial primary key, n int, said int8)' \
    'insert into item (n) values (1), (2), (3)'
  relay init
  relay target add dw "postgresql://relay@/bare_dw?host=$dir/$name&port=5432"
  relay capture item --to dw --create
  relay backfill item --to dw
  at "$source dbname=bare user=app" "select cron.schedule('job', '* * * * *', 'insert into item (n) values (4), (5)'),
    cron.schedule('lastval', '* * * * *', 'with i as (insert into item (n) values (6) returning id) update item set said = 7 where n = 1')" >/dev/null
done
for name in sessions workers; do
  moment="with jobs in $name"
  PGHOST=$dir/$name PATIENCE=130 becomes 'the jobs' 't' "${!name} dbname=bare" "select count(distinct jobid) = 2 and bool_and(status = 'succeeded'
    and return_message in ('INSERT 0 2', 'UPDATE 1', '2 rows', '1 row') and username = 'app') from cron.job_run_details where end_time is not null"
  at "${!name} dbname=bare" "update cron.job set active = false"
  export PGHOST=$dir/$name
  relay run --until-empty
  relay verify dw
  is 'the roles of the changes' app "${!name} dbname=bare" "select string_agg(distinct db_user, ' ') from rowrelay.history where op in ('insert', 'update')"
done
ok
