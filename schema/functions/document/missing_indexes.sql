-- Purpose:    finds the large tables that a statement can only read as a whole, because an index is missing
-- Parameters: a statement; it is explained, and not run
-- Result:     relation; rows: estimated; creation: a statement that creates the missing index, null where no comparison
--             for equality shows of which columns
create or replace function rowrelay.missing_indexes(statement text, out relation regclass, out rows bigint,
                                                    out creation text) returns setof record
language plpgsql set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off
  set max_parallel_workers_per_gather = 0 set jit = off as $$
declare
  plan    json;
  whole   record;
  aliases text;
begin
  -- with all other ways taken first, what is still read as a whole has no other
  execute 'explain (verbose, format json) ' || statement into plan;
  for whole in
    with recursive node(plan) as (
      select plan #> '{0,Plan}'
      union all
      select child from node cross join lateral json_array_elements(node.plan -> 'Plans') as child
    )
    select coalesce(pg_partition_root(c.oid)::oid, c.oid) as oid,
           array_agg(distinct n.plan ->> 'Alias') as aliases,
           -- a join's condition says more than a table's own
           (select array_agg(d.text order by d.place, d.text)
              from (select distinct o.value as text, case when o.key = 'Filter' then 2 else 1 end as place
                      from node m cross join lateral json_each_text(m.plan) as o
                     where o.key in ('Filter', 'Join Filter')) as d) as conditions
      from node n
      join pg_namespace s on s.nspname = n.plan ->> 'Schema'
      join pg_class c on c.relnamespace = s.oid and c.relname = n.plan ->> 'Relation Name'
     where n.plan ->> 'Node Type' in ('Seq Scan', 'Index Scan', 'Index Only Scan')
       and coalesce(n.plan ->> 'Index Cond', '') ~ '^([(][^=<>@&|~]* IS NOT NULL[)])?$'
     group by 1
     order by 1
  loop
    relation := whole.oid;
    rows := rowrelay.estimated_rows(relation);
    continue when rows <= 5000;
    -- the planner numbers the aliases of partitions
    select string_agg(distinct regexp_replace(quote_ident(n.name), '([^[:alnum:]_])', E'\\\\\\1', 'g'), '|')
      into aliases
      from unnest(whole.aliases) as a(alias)
      cross join lateral (values (a.alias), (regexp_replace(a.alias, '_[0-9]+$', ''))) as n(name);
    creation := rowrelay.index_creation(relation, aliases, whole.conditions);
    return next;
  end loop;
end
$$;
