-- Purpose:    queues documents to be built again: those with these keys, or all. They wait behind documents that live
--             changes refresh.
-- Parameters: name; keys (null: all keys in the first of its tables)
-- Result:     number of queued documents
-- Errors:     no such document
create or replace function rowrelay.rebuild(document text, keys text[] default null) returns bigint
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  document_id integer := rowrelay.document_id(document);
begin
  if keys is null then
    -- A mirror may still have documents that were deleted meanwhile.
    delete from rowrelay.gap g using rowrelay.document d join rowrelay.target t on t.id = d.delivers_to
     where g.target = document_id and d.target = document_id and not rowrelay.is_mirror(t);
    return rowrelay.queue_all_documents(document_id);
  end if;
  return rowrelay.queue_documents(document_id, format(
    'select distinct %s from unnest($1::%s[]) as k where k is not null',
    rowrelay.document_key_text('k', d.key_type), rowrelay.document_key_type(d.key_type)), keys::text)
    from rowrelay.document d where d.target = document_id;
end
$$;
