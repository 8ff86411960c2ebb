-- Purpose:    whether a delete and the insert right after it are an update of one row: they have the same key, or
--             differ only in the key, or foreign keys follow updates of the key
-- Parameters: capture; names of its key's columns; step that restores the old row; step that removes the new one
create or replace function rowrelay.is_same_row(capture rowrelay.capture, key_names text[],
                                                gone rowrelay.undo_step, come rowrelay.undo_step) returns boolean
language sql stable set search_path = pg_catalog, pg_temp as $$
  select gone.capture = come.capture and cardinality(key_names) > 0
     and (gone.be_key = come.was_key
          or (gone.be - key_names = come.was - key_names
              or exists (select from pg_constraint c where c.contype = 'f' and c.confrelid = capture.relation
                         and c.confupdtype = 'c'))
             -- GENERATED ALWAYS AS IDENTITY cannot be updated
             and not exists (select from pg_attribute a
                              where a.attrelid = capture.relation and a.attname = any (key_names)
                                and a.attidentity = 'a'))
$$;
