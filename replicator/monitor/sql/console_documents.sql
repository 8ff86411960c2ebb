-- Documents by name, for the console.
--   $1 part of the name; null: any  $2 at most so many
select coalesce(json_agg(d order by d.document), '[]')
  from (select d.document, d.target, d.into_table, d.key, d.state, d.sources, d.query, d.note, d.created_at
          from rowrelay.documents d
         where $1::text is null or strpos(lower(d.document), lower($1)) > 0
         order by d.document
         limit $2::integer) as d;
