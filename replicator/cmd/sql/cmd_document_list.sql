-- All documents, for people.
select d.document, d.target, d.into_table, d.key, cardinality(d.sources) as tables, d.state, d.note
  from rowrelay.documents d order by d.document;
