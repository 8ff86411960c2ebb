-- Purpose:    tells which targets have values of some columns of a table and keep them, and which documents read them
-- Parameters: capture; numbers of the columns; of those that are captured
-- Result:     ids, also of documents
create or replace function rowrelay.targets_of_columns(capture_id integer, numbers smallint[], captured smallint[])
  returns integer[]
language sql stable as $$
  select array(
    select t.id
      from rowrelay.route r
      join rowrelay.target t on t.id = r.target
     where r.capture = capture_id and r.until_id is null and rowrelay.keeps_state(t)
       and numbers operator(pg_catalog.&&) captured
    union
    select s.document
      from rowrelay.document_source s
      join rowrelay.target t on t.id = s.document and t.dropped_at is null
     where s.capture = capture_id and numbers <> '{}'
       and (s.only_columns is null or (s.only_columns || s.key_column) operator(pg_catalog.&&) numbers))
$$;
