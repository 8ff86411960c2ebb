-- Purpose:    whether constraints of the tables can be deferred: only so can rows that refer to each other be written
-- Parameters: steps
create or replace function rowrelay.undo_defers(steps rowrelay.undo_step[]) returns boolean
language sql stable set search_path = pg_catalog, pg_temp as $$
  select cardinality(steps) > 1
     and exists (select from pg_constraint c where c.condeferrable
                 and c.conrelid in (select s.relation from unnest(steps) as s))
$$;
