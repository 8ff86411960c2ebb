-- Purpose:    returns the documents that are built from a captured table now
-- Parameters: capture id
-- Result:     number of the document, its lanes; position of the table among its sources; number and last known name of
--             the column with the document's key (null: a query returns the keys)
create or replace function rowrelay.present_sources(capture_id integer)
  returns table (document integer, lanes integer, "position" integer, key_column smallint, key_name text)
language plpgsql stable as $$ -- rather than SQL, because its plan is kept
declare
  written constant jsonb := rowrelay.written_routes(capture_id);
begin
  if written is not null then
    return query
      select w.* from jsonb_to_recordset(written -> 'sources')
        as w(document integer, lanes integer, "position" integer, key_column smallint, key_name text);
    return;
  end if;
  return query
    select s.document, t.lanes::integer, s.position::integer, s.key_column, s.key_name::text
      from rowrelay.document_source s join rowrelay.target t on t.id = s.document
     where s.capture = capture_id and t.dropped_at is null;
end
$$;
