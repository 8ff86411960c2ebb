-- Purpose:    returns SQL for the rows of a captured table that a writer's trigger may look at: those of all its
--             partitions or inheritance children but the foreign ones (rowrelay.has_foreign_parts). Of many partitions
--             only the one of a row is read, where others cannot have its key.
-- Parameters: capture; a table that has, or had, a row with the key (null: unknown)
-- Result:     an item for a FROM clause without its alias; it has the table's columns and tableoid
create or replace function rowrelay.rows_here(capture rowrelay.capture, part oid default null) returns text
language plpgsql stable as $$
declare
  key_names constant name[] := rowrelay.attribute_names(capture.relation, capture.key_columns);
  is_bound  boolean := false;
begin
  if not rowrelay.has_foreign_parts(capture.relation) then
    return capture.relation;
  end if;
  if part is not null and capture.key_is_exact then
    -- false for an expression, whose number is 0
    select coalesce(bool_and(coalesce(a.attname = any (key_names), false)), false) into is_bound
      from pg_partition_ancestors(part) as u(relid)
      join pg_partitioned_table t on t.partrelid = u.relid
     cross join unnest(t.partattrs::smallint[]) as number
      left join pg_attribute a on a.attrelid = u.relid and a.attnum = number;
  end if;
  return (
    select format('(%s)', string_agg(format('select t.tableoid, %s from only %s as t', shown.names, c.oid::regclass),
                                     ' union all '))
      from unnest(rowrelay.captured_tables(capture)) as m(relation)
      join pg_class c on c.oid = m.relation
     cross join (select string_agg(format('t.%I', a.attname), ', ' order by a.attnum) as names
                   from pg_attribute a
                  where a.attrelid = capture.relation and a.attnum > 0 and not a.attisdropped) as shown
     where c.oid = capture.relation or c.relkind = 'r' and (not is_bound or c.oid = part));
end
$$;
