-- Purpose:    returns the tables whose rows a capture covers: the table, its partitions or inheritance children, and
--             theirs
-- Parameters: capture
-- Result:     tables, foreign ones among them, parents first, so that locks are taken in the order in which writers
--             take them
create or replace function rowrelay.captured_tables(capture rowrelay.capture) returns regclass[]
language plpgsql stable as $$ -- rather than SQL, because its plans are kept
begin
  -- Most tables stand alone. This runs for each of thousands, so it must not scan a catalog: it looks up relkind for
  -- each table, where a join would read all of pg_class.
  if not exists (select from pg_class c where c.oid = capture.relation and c.relhassubclass) then
    return array(select c.oid::regclass from pg_class c where c.oid = capture.relation and c.relkind in ('r', 'p')
                  limit 1); -- see rowrelay.sees_rows()
  end if;
  return (
    with recursive member(relation, depth) as (
      select c.oid, 0 from pg_class c where c.oid = capture.relation
      union all
      select i.inhrelid, m.depth + 1 from member m join pg_inherits i on i.inhparent = m.relation
    )
    select array(select m.relation::regclass
                   from member m
                  -- a join could find two versions of a table's row, if it was altered and truncated concurrently
                  where exists (select from pg_class c where c.oid = m.relation and c.relkind in ('r', 'p', 'f'))
                  group by m.relation order by min(m.depth), m.relation));
end
$$;
