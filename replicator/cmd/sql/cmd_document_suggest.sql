-- How a document could be added whose query is $1: its key, the sources, what a person has to look at, and the target
-- if there is only one that takes documents; and its name, after that of the query's file, such that no target, no
-- document and no table has it that anything is delivered to.
--   $1 query  $2 name of the file
-- Gives suggestion: kind, text
with suggested as (
  select s.key, s.sources, s.problems from rowrelay.suggest_document($1::text) as s
), target as (
  select min(t.name) as name
    from rowrelay.targets t
    join rowrelay.target o on o.name = t.name and o.dropped_at is null
   where t.url ~ '^postgres' and o.options ->> 'mode' is distinct from 'append'
     and not exists (select from rowrelay.document d where d.target = o.id)
  having count(*) = 1
), named as (
  select n.name
    from (select $2::text || case i when 0 then '' when 1 then '_document' else '_document_' || i end as name, i
            from generate_series(0, 1000) as i) as n
   where not exists (select from rowrelay.target t where t.name = n.name and t.dropped_at is null)
     and not exists (select from rowrelay.route r
                       join rowrelay.target t on t.id = r.target and t.dropped_at is null
                      where r.until_id is null and r.place = rowrelay.place_of(quote_ident(n.name)))
   order by n.i limit 1
)
select 'key' as kind, s.key as text from suggested s
union all
select 'name', n.name from named n
union all
select 'target', t.name from target t
union all
select 'source', x.text from suggested s cross join unnest(s.sources) as x(text)
union all
select 'problem', x.text from suggested s cross join unnest(s.problems) as x(text);
