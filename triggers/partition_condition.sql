-- Purpose:    returns the condition that the rows of a partition meet, if it means the same on every server: it is
--             evaluated at targets. Texts are sorted by the database's collation, which may be another one there (and
--             jsonb too); an enum's labels may be in another order; an expression may call functions that sort texts,
--             or that users wrote; a target may lack a type, an operator class or a collation; blanks at the end of
--             char(n) are kept by a column of type text. What hash partitions hold depends on the oid of their parent.
--             So the columns of the key are of types that are known to be harmless; texts are only compared for
--             equality.
-- Result:     null: it might mean something else there, or there is none
create or replace function rowrelay.partition_condition(relation regclass) returns text
language sql stable as $$
  select pg_get_partition_constraintdef(relation)
   where not exists (
     -- the key of each level above, because the condition has those of all levels
     select from pg_partition_ancestors(relation) as a(relid)
       join pg_partitioned_table p on p.partrelid = a.relid
      cross join unnest(p.partattrs::smallint[], p.partclass::oid[], p.partcollation::oid[])
              as k(number, operators, sorting)
       left join pg_attribute t on t.attrelid = a.relid and t.attnum = k.number -- of an expression there is none
       left join pg_collation s on s.oid = k.sorting
      where a.relid <> relation
        and (p.partstrat in ('l', 'r')
             and k.operators < 16384 -- they come with PostgreSQL
             and (t.atttypid = any ('{bool,int2,int4,int8,numeric,float4,float8,oid,uuid,bytea,date,time,timestamp,
                                      timestamptz,inet,cidr,macaddr}'::regtype[])
                  or p.partstrat = 'l' and t.atttypid = any ('{text,varchar}'::regtype[])
                     and s.collnamespace = 'pg_catalog'::regnamespace
                     and s.collname in ('default', 'C', 'POSIX'))) is not true)
$$;
