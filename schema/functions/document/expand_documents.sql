-- Purpose:    queues the documents whose keys the sources' queries return for changed rows, such as all orders of a
--             customer. Runs all queries as one, so that each document is queued once.
-- Parameters: document; ids of changes of its tables; their days
-- Errors:     those of the queries; row-level security hides rows that they read
create or replace function rowrelay.expand_documents(document_id integer, change_ids bigint[], days date[]) returns void
language plpgsql security definer set search_path = pg_catalog, pg_temp set row_security = off as $$
declare
  document    rowrelay.document;
  images      json; -- by table rather than by capture, because a table may have had several captures
  statement   text;
begin
  select d.* into strict document from rowrelay.document d where d.target = document_id;
  -- planned for these days alone, because there may be years of partitions
  execute 'select json_object_agg(t.relation, t.images)'
          '  from (select c.relation::oid, json_agg(i.image) as images'
          '          from rowrelay.change h'
          '          join rowrelay.capture c on c.id = h.capture'
          '         cross join lateral (values (h.old_row), (h.new_row)) as i(image)'
          '         where h.id = any ($1) and h.day = any ($2) and i.image is not null'
          '         group by c.relation) as t'
     into images using change_ids, days;
  select string_agg(format('(%s)', rowrelay.keys_statement(c.relation, coalesce(s.resolved_query, s.keys_query),
                                                           document.key_type,
                                                           format('$1::pg_catalog.json -> %L', c.relation::oid))),
                    ' union ')
    into statement
    from rowrelay.document_source s join rowrelay.capture c on c.id = s.capture
   where s.document = document_id and s.keys_query is not null and images -> c.relation::oid::text is not null;
  if statement is not null then
    perform rowrelay.queue_documents(document_id, statement, images::text);
  end if;
end
$$;
