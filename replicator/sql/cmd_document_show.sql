-- Document $1, for people: one line for each of its settings and sources.
select l.name, l.value
  from rowrelay.documents d,
       lateral (select *
                  from (values (1, 'document', d.document), (2, 'target', d.target), (3, 'table', d.into_table), (4, 'key', d.key),
                               (5, 'state', d.state), (7, 'query', d.query), (8, 'note', d.note)) v (position, name, value)
                 where v.value is not null
                 union all
                select 6, 'from', s from unnest(d.sources) as s) l
 where d.document = $1::text
 order by l.position;
