-- Purpose:    whether to keep the image before an update: by option, because rows without a key are identified by all
--             of their values, or because a document's query may return other keys for the old row
-- Parameters: capture
create or replace function rowrelay.keeps_before(capture rowrelay.capture) returns boolean
language plpgsql stable as $$ -- rather than SQL, because its plan is kept
begin
  return (
    select capture.before = 'full' or cardinality(rowrelay.live_key(capture)) = 0
        or exists (select from rowrelay.document_source s join rowrelay.target t on t.id = s.document
                    where s.capture = capture.id and s.keys_query is not null and t.dropped_at is null));
end
$$;
