-- Purpose:    returns the planner's estimate of a table's rows, with its partitions and children, from its present size
--             and last statistics
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
