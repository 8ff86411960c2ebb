-- Purpose:    what a table's index is called in a search engine, where a target's URL does not say it
-- Parameters: into_table: what the table is called there, as SQL writes it
-- Result:     that in lower case, with "_" for all that an index may not have in its name; replicator/target/search.c
--             makes the same
create or replace function rowrelay.index_name(into_table text) returns text
language sql immutable strict as $$
  select regexp_replace(regexp_replace(lower(replace(into_table, '"', '') collate "C"), '[^a-z0-9._-]', '_', 'g'), '^[_.-]+', '')
$$;
