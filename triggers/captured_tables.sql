-- Purpose:    the tables whose rows a capture sees: the table, its partitions or its inheritance children, and theirs
-- Parameters: capture
-- Result:     tables, parents first, so that locks are taken in the order in which writers take them
create or replace function rowrelay.captured_tables(capture rowrelay.capture) returns regclass[]
language plpgsql stable as $$ -- rather than SQL, because its plans are kept
begin
  return (
    with recursive member(relation, depth) as (
      select c.oid, 0 from pg_class c where c.oid = capture.relation
      union all
      select i.inhrelid, m.depth + 1 from member m join pg_inherits i on i.inhparent = m.relation
    )
    select array(select m.relation::regclass
                   from member m join pg_class c on c.oid = m.relation and c.relkind in ('r', 'p')
                  group by m.relation order by min(m.depth), m.relation));
end
$$;
