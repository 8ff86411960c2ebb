-- Purpose:    whether two keys of these columns are equal just when their texts (rowrelay.key_expression) are
-- Parameters: relation; attribute numbers
-- Result:     false also when there is no key
create or replace function rowrelay.key_is_exact(relation regclass, numbers smallint[]) returns boolean
language sql stable as $$
  select count(*) = cardinality(numbers) and cardinality(numbers) > 0
    from pg_attribute a
    left join pg_collation c on c.oid = a.attcollation
   where a.attrelid = relation and a.attnum = any (numbers) and not a.attisdropped
     and coalesce(c.collisdeterministic, true)
     and (rowrelay.base_type(a.atttypid) = any ('{int2,int4,int8,oid,uuid,text,varchar,bpchar,name,bool,bytea,date,
                                                  timestamp,timestamptz,time,numeric,"char",xid8,macaddr}'::regtype[])
          or (select t.typtype from pg_type t where t.oid = a.atttypid) = 'e')
     -- in a JSON array numeric keeps its scale and char(n) its blanks
     and (cardinality(numbers) = 1 or rowrelay.base_type(a.atttypid) <> 'bpchar'::regtype)
$$;
