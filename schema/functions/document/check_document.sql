-- Purpose:    refuses a document that cannot work, before anything is stored
-- Parameters: name; the target's name, URL and options, also of one that is not added yet; where the query's names are
--             looked up (null: as in this session); the others as for rowrelay.add_document()
-- Errors:     as for rowrelay.add_document(), without those of locks
create or replace function rowrelay.check_document(
  name text, target text, target_url text, target_options jsonb, key text, query text, sources text[], search text[],
  path text) returns void
language plpgsql security definer as $$
declare
  delivers_to rowrelay.target;
  path_before constant text := current_setting('search_path');
begin
  select t.* into delivers_to from rowrelay.target t where t.name = check_document.target and t.dropped_at is null;
  delivers_to.id := coalesce(delivers_to.id, 0);
  delivers_to.name := target;
  delivers_to.url := target_url;
  delivers_to.options := target_options;
  perform set_config('search_path', coalesce(path, path_before), true);
  perform rowrelay.document_plan(name, delivers_to, key, query, sources, search);
  perform set_config('search_path', path_before, true);
end
$$;
