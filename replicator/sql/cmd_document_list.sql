-- All documents, for people.
select d.document, d.target, d.into_table, d.key, array_to_string(d.sources, E'\n') as sources, d.state, d.note
  from rowrelay.documents d order by d.document;
