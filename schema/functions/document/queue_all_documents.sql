-- Purpose:    queues all documents: those with keys in the first of the document's tables
-- Parameters: document
-- Result:     number of documents
-- Errors:     the key column was dropped; row-level security hides rows of that table
create or replace function rowrelay.queue_all_documents(document_id integer) returns bigint
language plpgsql security definer set search_path = pg_catalog, pg_temp set row_security = off as $$
declare
  relation   regclass;
  key_column text;
  key_type   oid;
begin
  select c.relation, (rowrelay.attribute_names(c.relation, array[s.key_column]))[1], d.key_type
    into relation, key_column, key_type
    from rowrelay.document d
    join rowrelay.document_source s on s.document = d.target and s.position = 1
    join rowrelay.capture c on c.id = s.capture
   where d.target = document_id;
  if key_column is null then
    raise exception 'the column with the keys of the document was dropped' using errcode = 'undefined_column',
      hint = (select 'Drop it, and add it again with another column: '
                       || rowrelay.command('rowrelay document drop %s', 'select rowrelay.drop_document(%L);', t.name)
                from rowrelay.target t where t.id = document_id);
  end if;
  perform rowrelay.check_sees_all(relation);
  return rowrelay.queue_documents(document_id, format(
    'select distinct %s from %s as r where r.%I is not null and $1::text is null',
    rowrelay.document_key_text(format('r.%I', key_column), key_type), relation, key_column), null);
end
$$;
