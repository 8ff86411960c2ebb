-- Purpose:    tells of the foreign tables among a table's partitions and inheritance children: their rows also change
--             at the servers where they are, without a trigger here; and PostgreSQL has triggers for TRUNCATE of a
--             foreign table only since version 16
-- Parameters: relation
-- Result:     a sentence; null: there are none
create or replace function rowrelay.foreign_parts(relation regclass) returns text
language plpgsql stable as $$ -- rather than SQL, because its plans are kept
begin
  if not exists (select from pg_class c where c.oid = relation and c.relhassubclass) then
    return null;
  end if;
  return (
    with recursive member(relation) as (
      select foreign_parts.relation::oid
      union
      select i.inhrelid from member m join pg_inherits i on i.inhparent = m.relation
    )
    select format('foreign tables belong to it, and what is written at their own servers is not captured%s: %s',
                  case when current_setting('server_version_num')::integer >= 160000 then ''
                       when exists (select from pg_class c where c.oid = foreign_parts.relation and c.relkind = 'p')
                         then ', nor is TRUNCATE of one of them alone'
                       else ', nor is their TRUNCATE' end,
                  string_agg(f.ftrelid::regclass::text, ', ' order by f.ftrelid::regclass::text))
      from member m join pg_foreign_table f on f.ftrelid = m.relation
    having count(*) > 0);
end
$$;
