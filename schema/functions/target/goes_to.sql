-- Purpose:    whether the rows of a capture now go to a target: by a route, or as the first source of a document, which
--             has all of its keys
-- Parameters: capture id; target id
create or replace function rowrelay.goes_to(capture_id integer, target_id integer) returns boolean
language sql stable as $$
  select exists (select from rowrelay.route r where r.capture = capture_id and r.target = target_id
                 and r.until_id is null)
      or exists (select from rowrelay.document_source s join rowrelay.target t on t.id = s.document
                  where s.capture = capture_id and s.document = target_id and s.position = 1 and t.dropped_at is null)
$$;
