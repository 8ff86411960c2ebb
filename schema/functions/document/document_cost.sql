-- Purpose:    returns the planner's cost of building documents
-- Parameters: query; type of the keys; a query that returns keys
-- Result:     cost in the planner's units; null: there are no keys
create or replace function rowrelay.document_cost(query text, key_type regtype, keys_query text) returns numeric
language plpgsql as $$
declare
  keys text;
  plan json;
begin
  execute format('select array_agg(k)::text from (%s) as q(k)', keys_query) into keys;
  if keys is null then
    return null;
  end if;
  execute format('explain (format json) %s', regexp_replace(query, E'\\$1(?!\\d)', format('(%L::%s[])',
      replace(keys, E'\\', E'\\\\'), rowrelay.document_key_type(key_type)), 'g'))
     into plan;
  return (plan #>> '{0,Plan,Total Cost}')::numeric;
end
$$;
