-- Purpose:    returns the line of a trigger function's text that says where its table's changes go. What captures
--             apart from this text reads it there (rowrelay.written_routes()) if it cannot read it in tables.
-- Parameters: capture id
-- Result:     a comment
create or replace function rowrelay.routes_line(capture_id integer) returns text
language plpgsql stable as $$ -- rather than SQL, because its plan is kept
begin
  return (
    select '-- goes to ' || jsonb_build_object(
             'numbered_at', (select rowrelay.numbered_here(c.relation) from rowrelay.capture c
                              where c.id = capture_id),
             'targets', (select coalesce(jsonb_agg(jsonb_build_object('target', t.id, 'lanes', t.lanes)), '[]')
                           from rowrelay.route r join rowrelay.target t on t.id = r.target
                          where r.capture = capture_id and r.until_id is null and t.dropped_at is null),
             'sources', (select coalesce(jsonb_agg(jsonb_build_object(
                                  'document', s.document, 'lanes', t.lanes, 'position', s.position,
                                  'key_column', s.key_column, 'key_name', s.key_name)), '[]')
                           from rowrelay.document_source s join rowrelay.target t on t.id = s.document
                          where s.capture = capture_id and t.dropped_at is null))::text);
end
$$;
