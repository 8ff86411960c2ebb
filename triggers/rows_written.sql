-- Purpose:    returns how many rows of some tables this transaction has written so far, as the server counts them
-- Parameters: tables
create or replace function rowrelay.rows_written(tables regclass[]) returns bigint
language sql volatile as $$
  select coalesce(sum(pg_stat_get_xact_tuples_inserted(t) + pg_stat_get_xact_tuples_updated(t)
                      + pg_stat_get_xact_tuples_deleted(t)), 0)::bigint
    from unnest(tables) as t
$$;
