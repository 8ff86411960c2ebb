-- Purpose:    queues the documents to which queries lead from changed rows: those of a customer, of an item
-- Parameters: document; ids of changes of its tables; their days
create or replace function rowrelay.expand_documents(document_id integer, change_ids bigint[], days date[]) returns void
language plpgsql as $$
declare
  path_before constant text := current_setting('search_path');
  document    rowrelay.document;
  source      record;
  images      json;
begin
  select d.* into strict document from rowrelay.document d where d.target = document_id;
  for source in
    -- it may have been captured before, under another number
    select s.keys_query, c.relation, array(select o.id from rowrelay.capture o where o.relation = c.relation) as captures
      from rowrelay.document_source s join rowrelay.capture c on c.id = s.capture
     where s.document = document_id and s.keys_query is not null
     order by s.position
  loop
    -- planned for these days, because there may be years of partitions
    execute 'select json_agg(i.image) from rowrelay.change h cross join lateral (values (h.old_row), (h.new_row)) as i(image) '
            ' where h.id = any ($1) and h.day = any ($2) and h.capture = any ($3) and i.image is not null'
       into images using change_ids, days, source.captures;
    continue when images is null;
    perform set_config('search_path', document.search_path, true);
    perform rowrelay.queue_documents(document_id, rowrelay.keys_statement(source.relation, source.keys_query, document.key_type),
                                     images::text);
    perform set_config('search_path', path_before, true);
  end loop;
end
$$;
