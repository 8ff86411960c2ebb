-- Purpose:    tells why a table of its kind cannot be captured by statement: the statement triggers of a table are not
--             fired for its partitions and inheritance children, when these are written to by their own names
-- Parameters: relation
-- Result:     the reason; null: it is of no such kind
create or replace function rowrelay.kind_obstacle(relation regclass) returns text
language plpgsql stable as $$ -- rather than SQL, because its plans are kept
begin
  return case
    when exists (select from pg_class c where c.oid = relation and c.relkind = 'p') then 'it is partitioned'
    when exists (select from pg_class c where c.oid = relation and c.relispartition) then 'it is a partition'
    when exists (select from pg_inherits i where i.inhrelid = relation) then 'it is an inheritance child'
    when rowrelay.has_children(relation) then 'it has inheritance children'
  end;
end
$$;
