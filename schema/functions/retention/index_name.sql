-- Purpose:    returns the name of a table's index in a search engine, when the target's URL does not set it
-- Parameters: into_table: the table's name there, as SQL writes it
-- Result:     that in lower case, with "_" for characters that an index name may not have; replicator/targets/search.c
--             must return the same
create or replace function rowrelay.index_name(into_table text) returns text
language sql immutable strict as $$
  select regexp_replace(regexp_replace(lower(replace(into_table, '"', '') collate "C"), '[^a-z0-9._-]', '_', 'g'),
                        '^[_.-]+', '')
$$;
