-- Purpose:    returns the planner's cost of building documents, and the large tables that it would read as a whole
-- Parameters: query; type of the keys; a query that returns keys
-- Result:     cost in the planner's units; whole_tables: those of more than 5000 rows; null: there are no keys
create or replace function rowrelay.document_cost(query text, key_type regtype, keys_query text, out cost numeric,
                                                  out whole_tables text)
language plpgsql as $$
declare
  keys text;
  plan json;
begin
  execute format('select array_agg(k)::text from (%s) as q(k)', keys_query) into keys;
  if keys is null then
    return;
  end if;
  execute format('explain (format json) %s', regexp_replace(query, E'\\$1(?!\\d)', format('(%L::%s[])',
      replace(keys, E'\\', E'\\\\'), rowrelay.document_key_type(key_type)), 'g'))
     into plan;
  cost := (plan #>> '{0,Plan,Total Cost}')::numeric;
  with recursive node(plan) as (
    select plan #> '{0,Plan}'
    union all
    select child from node cross join lateral json_array_elements(node.plan -> 'Plans') as child
  )
  select string_agg(distinct format('%I', n.plan ->> 'Relation Name'), ', ') into whole_tables
    from node n
    join pg_class c on c.oid = to_regclass(quote_ident(n.plan ->> 'Relation Name'))
   where n.plan ->> 'Node Type' = 'Seq Scan' and c.reltuples > 5000;
end
$$;
