-- Purpose:    how many rows a table has, with its partitions and children, as the planner guesses: from its size now and
--             what it knew of it last
-- Parameters: relation
-- Result:     number of rows
create or replace function rowrelay.estimated_rows(relation regclass) returns bigint
language plpgsql as $$
declare
  plan json;
begin
  execute format('explain (format json) select from %s', relation) into plan;
  return (plan #>> '{0,Plan,Plan Rows}')::numeric::bigint;
end
$$;
