-- Purpose:    proposes the sources of a document, by the foreign keys of the tables that it reads
-- Parameters: root and key_column: the table and column that have the keys; used: as rowrelay.columns_read() gives it;
--             several: tables that are read more than once
-- Result:     the root first: source: a text for rowrelay.add_document(), null: none is known; problem: what a person
--             should look at, else null
create or replace function rowrelay.suggest_sources(root regclass, key_column smallint, used jsonb, several oid[])
  returns table (source text, problem text)
language sql stable as $$
  with read as (
    select u.key::oid::regclass as relation, c.relkind,
           array(select n::smallint from jsonb_array_elements_text(u.value) as n) as columns
      from jsonb_each(used) as u join pg_class c on c.oid = u.key::oid
  ), near as (
    select p.* from rowrelay.key_paths(root, key_column, used, several, 6) as p
  ), far as (
    -- by tables and columns that the query does not use, where there is no other path
    select p.*, rank() over (partition by p.relation order by p.hops) as place
      from rowrelay.key_paths(root, key_column, null, several, 4) as p
     where p.relation in (select r.relation from read r) and p.relation <> root
       and p.relation not in (select n.relation from near n)
       and exists (select from read r where r.relation not in (select n.relation from near n) and r.relation <> root)
  ), way as (
    select root as relation, (rowrelay.attribute_names(root, array[key_column]))[1] as column_name, null as leads_to,
           array[key_column] as columns, 0 as hops, null as problem
    union all
    select n.relation, null, n.leads_to, n.columns, n.hops, null from near n
    union all
    select f.relation, null, f.leads_to, f.columns, f.hops,
           format('the query does not join all that leads from %s to the documents: check its --from',
                  f.relation)
      from far f where f.place = 1
  ), proposed as (
    select distinct on (w.relation, t.leads_to) w.relation, t.leads_to, w.hops, w.problem,
           case when cardinality(l.names) < (select count(*) from pg_attribute a
                                              where a.attrelid = w.relation and a.attnum > 0 and not a.attisdropped)
                     and array_to_string(l.names, '') !~ '[(),]'
                then '(' || array_to_string(array(select quote_ident(x) from unnest(l.names) as x), ', ') || ')'
                else '' end as list
      from way w
      join read r on r.relation = w.relation
     cross join lateral (select coalesce(w.leads_to, quote_ident(w.column_name)) as leads_to) as t
     cross join lateral (
       select rowrelay.attribute_names(w.relation, array(select distinct n from unnest(r.columns || w.columns) as n
                                                          order by n)) as names) as l
     where r.relkind in ('r', 'p')
     order by w.relation, t.leads_to, w.hops
  )
  select s.source, s.problem
    from (
      select case when p.leads_to like 'select %' then format('%s%s:%s', rowrelay.full_name(p.relation), p.list,
                                                              p.leads_to)
                  else format('%s:%s%s', rowrelay.full_name(p.relation), p.leads_to, p.list) end as source,
             p.problem, p.relation <> root or p.hops > 0 as is_later, rowrelay.full_name(p.relation) as name, p.hops
        from proposed p
      union all
      select null,
             case r.relkind
               when 'm' then format('%s is a materialized view: changes there are not captured', r.relation)
               when 'f' then format('%s is a foreign table: changes there are not captured', r.relation)
               else format('no foreign key leads from %s to the documents: add --from ''%s:QUERY'' with a query that '
                           'returns the keys for the rows of "changed"', r.relation, rowrelay.full_name(r.relation))
             end, true, rowrelay.full_name(r.relation), 0
        from read r
       where r.relation not in (select p.relation from proposed p)) as s
   order by s.is_later, s.name, s.hops, s.source
$$;
