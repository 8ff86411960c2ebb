-- How a document could be added whose query is $1: its key, the sources, what a person has to look at, and the target
-- if there is only one that takes documents.
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
)
select 'key' as kind, s.key as text from suggested s
union all
select 'target', t.name from target t
union all
select 'source', x.text from suggested s cross join unnest(s.sources) as x(text)
union all
select 'problem', x.text from suggested s cross join unnest(s.problems) as x(text);
