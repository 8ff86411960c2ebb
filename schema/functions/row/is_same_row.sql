-- Purpose:    whether a row that was deleted and one that was inserted right after it are one row, updated: they have the
--             same key, or differ in nothing but the key, or others follow the row when its key is updated
-- Parameters: capture; step that brings the old one back; step that takes the new one away
create or replace function rowrelay.is_same_row(capture rowrelay.capture, gone rowrelay.undo_step, come rowrelay.undo_step)
returns boolean
language sql stable set search_path = pg_catalog, pg_temp as $$
  select gone.capture = come.capture and cardinality(k.names) > 0
     and (gone.be_key = come.was_key
          or (gone.be - k.names = come.was - k.names
              or exists (select from pg_constraint c where c.contype = 'f' and c.confrelid = capture.relation and c.confupdtype = 'c'))
             -- such a key is never updated
             and not exists (select from pg_attribute a
                              where a.attrelid = capture.relation and a.attname = any (k.names) and a.attidentity = 'a'))
    from (select rowrelay.attribute_names(capture.relation, rowrelay.live_key(capture))) as k(names)
$$;
