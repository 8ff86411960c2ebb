-- Purpose:    returns the columns of a captured table that hold keys of documents
-- Parameters: capture id
-- Result:     attribute numbers, each once
create or replace function rowrelay.document_columns(capture_id integer) returns smallint[]
language plpgsql stable as $$ -- rather than SQL, because its plan is kept
begin
  return (
    select array(select distinct (rowrelay.numbers_here(c, array[s.key_column]))[1]
                   from rowrelay.document_source s
                   join rowrelay.target t on t.id = s.document
                   join rowrelay.capture c on c.id = s.capture
                  where s.capture = capture_id and s.key_column is not null and t.dropped_at is null
                  order by 1));
end
$$;
