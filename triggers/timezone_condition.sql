-- Purpose:    returns SQL for whether the session's time zone can be restored by its name. PostgreSQL does not read the
--             name of one that was set as an interval with seconds; then only the guarded ways may change it.
-- Parameters: relation; attribute numbers of columns whose text becomes key or lane
-- Result:     a condition; null: nobody changes it for this table
create or replace function rowrelay.timezone_condition(relation regclass, key_columns smallint[]) returns text
language sql stable as $$
  select 'pg_catalog.current_setting(''timezone'') operator(pg_catalog.!~~) ''%:%:%'''
    from rowrelay.pinned_settings(relation, key_columns) as p where p.name = 'timezone'
$$;
