-- What a document is built from, $1, as the source writes it: a row for each, with its table. $2: where names are
-- looked up; null: as in this session.
-- Gives document_source: text, relation
select rowrelay.document_source_text(p.relation, rowrelay.full_name(p.relation),
                                     (rowrelay.attribute_names(p.relation, array[p.key_column]))[1], p.keys_query,
                                     p.only_columns) as text,
       rowrelay.full_name(p.relation) as relation
  from unnest($1::text[]) with ordinality as u(source, place)
 cross join lateral rowrelay.document_source_parts(u.source, coalesce($2::text, rowrelay.names_path())) as p
 order by u.place;
