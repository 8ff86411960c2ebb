-- How document $1 is made, for the console; null: there is no such document.
select json_build_object('document', d.document, 'target', d.target, 'into', d.into_table, 'key', d.key,
                         'sources', d.sources, 'query', d.query, 'note', d.note, 'since', d.created_at)
  from rowrelay.documents d
 where d.document = $1::text;
