-- What is needed to compare a document: as verify_source.sql gives it for a table, with "document" saying how it is
-- built.
--   $1 the document's own target
-- Gives source: document, into_table, keyless, capture, is_empty, shared_with,
--   types, key_names, creates
select json_build_object(
         'target', d.target,
         'document', json_build_object(
           'capture', d.capture,
           -- what the target's columns are made of
           'rows', case when d.build_query ~ 'as d\(j\)$'
                        then format(E'(select (j ->> %L)::%s as %I, j::jsonb as document from (%s\n) as d(j))',
                                    d.key_name, k.type, d.key_name, coalesce(d.resolved_query, d.query))
                        else format(E'(%s\n)', coalesce(d.resolved_query, d.query)) end,
           'key', d.key_name,
           'key_type', k.type,
           'key_type_oid', d.key_type::oid,
           'root', rowrelay.full_name(c.relation),
           'root_column', (rowrelay.attribute_names(c.relation, array[s.key_column]))[1]),
         'key_size', 1,
         'columns', (select json_agg(json_build_object(
                              'name', n.name,
                              -- a value of any other type may have become a text
                              'type', nullif(n.type, 'text'),
                              'key_type', k.type,
                              'as_text', rowrelay.safe_text(format('new.%I', n.name), to_regtype(n.type)),
                              'as_image', format('pg_catalog.to_json(%s)',
                                                 rowrelay.safe_json(format('new.%I', n.name), to_regtype(n.type))),
                              'is_masked', false,
                              'key_position', case when n.name = d.key_name then 1 end))
                       from jsonb_to_recordset(d.columns) as n(name text, type text, index text)
                      where n.index is null),
         'orders', json_build_array(json_build_array(d.key_name))) as document,
       r.into_table,
       false as keyless,
       d.capture,
       format('select not exists (select from %s)', rowrelay.full_name(c.relation)) as is_empty,
       rowrelay.shares_place(d.capture, d.target) as shared_with,
       null as types, null as key_names, false as creates
  from rowrelay.document d
  cross join lateral (select rowrelay.document_key_type(d.key_type) as type) as k
  join rowrelay.route r on r.capture = d.capture and r.target = d.target
  join rowrelay.document_source s on s.document = d.target and s.position = 1
  join rowrelay.capture c on c.id = s.capture
 where d.target = $1::integer and rowrelay.full_name(c.relation) is not null;
