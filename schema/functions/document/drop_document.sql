-- Purpose:    drops a document: its tables no longer queue for it, and its queue is removed. What it wrote to the
--             target stays there.
-- Parameters: name
-- Errors:     no such document
create or replace function rowrelay.drop_document(name text) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  perform rowrelay.lock_configuration();
  perform rowrelay.document_id(name);
  perform rowrelay.drop_target(name);
end
$$;
