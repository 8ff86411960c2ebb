-- Document $1, for people: one line for each of its settings and sources, and for each line of its query.
select case when l.line = 1 then l.name end as name, l.value
  from rowrelay.documents d,
       lateral (select p.position, p.name, 1 as line, p.value
                  from (values (1, 'document', d.document), (2, 'target', d.target), (3, 'table', d.into_table),
                               (4, 'key', d.key), (5, 'state', d.state), (6, 'note', d.note))
                         as p (position, name, value)
                 where p.value is not null
                 union all
                select 6 + s.position, 'from', 1, s.value from unnest(d.sources) with ordinality as s(value, position)
                 union all
                select 10000, 'query', q.line, replace(q.value, E'\t', '    ')
                  from regexp_split_to_table(d.query, '\r?\n') with ordinality as q(value, line)) as l
 where d.document = $1::text
 order by l.position, l.line;
