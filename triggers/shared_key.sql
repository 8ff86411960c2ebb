-- Purpose:    why a change cannot be captured whose row shares its key with another one
create or replace function rowrelay.shared_key() returns text
language sql immutable as $$
  select 'another row of the table, or of its inheritance children, has the same key'::pg_catalog.text
$$;
