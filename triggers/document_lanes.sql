-- Purpose:    returns the lanes in which a change is queued for the documents that it affects, as the generated
--             triggers do inline
-- Parameters: capture; operation; hash of the change's key; its images, both null when the row could not be captured
-- Result:     lanes, each once
create or replace function rowrelay.document_lanes(capture_id integer, op "char", lane_hash integer, old_row json,
                                                   new_row json) returns setof integer
language plpgsql stable set jit = off as $$ -- rather than SQL, because its plan is kept
begin
  return query
    select distinct rowrelay.lane_number(s.document, case
             -- when the first source, which has all keys, is truncated, all documents are deleted
             when op = 't' and s.position = 1 then -1
             when op = 't' or old_row is null and new_row is null then 0
             when s.key_column is null then mod(coalesce(lane_hash, 0) & 2147483647, s.lanes / 2)
             else mod(hashtext(k.key) & 2147483647, s.lanes / 2)
           end)
      from rowrelay.present_sources(capture_id) as s
      left join rowrelay.document d on d.target = s.document
      left join rowrelay.capture c on c.id = capture_id
      left join pg_attribute a on a.attrelid = c.relation and a.attnum = s.key_column and not a.attisdropped
      left join lateral (
        select rowrelay.document_key(i.image, a.attname, s.key_name, rowrelay.base_type(a.atttypid),
                                     coalesce(d.key_type, rowrelay.base_type(a.atttypid))) as key
          from (values (old_row), (new_row)) as i(image)
         where s.key_column is not null) as k on true
     where s.key_column is null or k.key is not null or op = 't' or old_row is null and new_row is null;
end
$$;
