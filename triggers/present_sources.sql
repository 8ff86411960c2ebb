-- Purpose:    returns the documents that are built from a captured table now
-- Parameters: capture id
-- Result:     number of the document, its lanes; position of the table among its sources; number and last known name of
--             the column with the document's key (null: a query returns the keys)
create or replace function rowrelay.present_sources(capture_id integer)
  returns table (document integer, lanes integer, "position" integer, key_column smallint, key_name text)
language plpgsql stable as $$ -- rather than SQL, because its plan is kept
declare
  written constant jsonb := rowrelay.written_routes(capture_id);
  stored  rowrelay.capture;
begin
  select c.* into stored from rowrelay.capture c where c.id = capture_id;
  if written is not null then
    return query
      select w.document, w.lanes, w.position,
             -- in a restored database another column may have the number, see rowrelay.renumbered()
             case when written ->> 'numbered_at' = rowrelay.numbered_here(stored.relation) then w.key_column
                  when w.key_column is not null then
                    coalesce((select a.attnum from pg_attribute a
                               where a.attrelid = stored.relation and a.attname = w.key_name and a.attnum > 0
                                 and not a.attisdropped), 2001::smallint) end,
             w.key_name
        from jsonb_to_recordset(written -> 'sources')
          as w(document integer, lanes integer, "position" integer, key_column smallint, key_name text);
    return;
  end if;
  return query
    select s.document, t.lanes::integer, s.position::integer,
           (rowrelay.numbers_here(stored, array[s.key_column]))[1], s.key_name::text
      from rowrelay.document_source s join rowrelay.target t on t.id = s.document
     where s.capture = capture_id and t.dropped_at is null;
end
$$;
