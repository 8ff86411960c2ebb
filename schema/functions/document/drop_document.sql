-- Purpose:    drops a document: its tables no longer queue for it, and its queue is removed. What it wrote to the
--             target stays there.
-- Parameters: name
-- Errors:     no such document
create or replace function rowrelay.drop_document(name text) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  -- Not locked: rowrelay.drop_target() locks other things first.
  if not exists (select from rowrelay.document d join rowrelay.target t on t.id = d.target
                  where t.name = drop_document.name and t.dropped_at is null) then
    perform rowrelay.document_id(name);
  end if;
  perform rowrelay.drop_target(name);
end
$$;
