-- Purpose:    finds a document by name. Nothing is locked: if it is dropped meanwhile, rowrelay.maintain() removes what
--             is queued for it.
-- Parameters: name
-- Result:     its id
-- Errors:     no document has that name
create or replace function rowrelay.document_id(document_name text) returns integer
language plpgsql as $$
declare
  found_id integer;
begin
  select t.id into found_id
    from rowrelay.document d join rowrelay.target t on t.id = d.target
   where t.name = document_name and t.dropped_at is null;
  if not found then
    raise exception 'document "%" does not exist', document_name
      using errcode = 'undefined_object',
            hint = coalesce('Documents are: '
                              || (select string_agg(format('"%s"', t.name), ', ' order by t.name)
                                    from rowrelay.document d join rowrelay.target t on t.id = d.target
                                   where t.dropped_at is null),
                            'Add one first: '
                              || rowrelay.command('rowrelay document add NAME --target TARGET --key COLUMN '
                                                  '--query FILE --from TABLE:COLUMN',
                                                  'select rowrelay.add_document(''NAME'', ''TARGET'', ''COLUMN'', '
                                                  '''QUERY'', ''{TABLE:COLUMN}'');'));
  end if;
  return found_id;
end
$$;
