-- Purpose:    refuses a document that cannot work, before anything is stored
-- Parameters: name; the target's name, URL and options, also of one that is not added yet; where the query's names are
--             looked up; the others as for rowrelay.add_document()
-- Errors:     as for rowrelay.add_document(), without those of locks
create or replace function rowrelay.check_document(
  name text, target text, target_url text, target_options jsonb, key text, query text, sources text[], search text[],
  path text) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  delivers_to rowrelay.target;
begin
  select t.* into delivers_to from rowrelay.target t where t.name = check_document.target and t.dropped_at is null;
  delivers_to.id := coalesce(delivers_to.id, 0);
  delivers_to.name := target;
  delivers_to.url := target_url;
  delivers_to.options := target_options;
  perform rowrelay.document_plan(name, delivers_to, key, query, sources, search, path);
end
$$;
