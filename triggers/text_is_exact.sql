-- Purpose:    whether two values of a type are equal exactly when their texts are (for numeric, after trim_scale())
-- Parameters: type (a domain counts as its base type); collation of the column; whether it is a part of an array, range
--             or row, where a numeric keeps its scale and char(n) its blanks
-- Result:     false also for types not listed here
create or replace function rowrelay.text_is_exact(of_type oid, of_collation oid, is_part boolean default false)
returns boolean language plpgsql stable as $$
declare
  base constant oid := rowrelay.base_type(of_type);
begin
  if exists (select from pg_collation c where c.oid = of_collation and not c.collisdeterministic) then
    return false;
  end if;
  return base = any ('{int2,int4,int8,oid,xid,xid8,uuid,text,varchar,name,bool,bytea,bit,varbit,date,timestamp,
                       timestamptz,time,timetz,"char",money,inet,cidr,macaddr,macaddr8,pg_lsn,tid,tsvector}'::regtype[])
      or base = any ('{numeric,bpchar}'::regtype[]) and not is_part
      or exists (select from pg_type t where t.oid = base and t.typtype = 'e')
      or exists (select from pg_type t join pg_proc p on p.oid = t.typinput
                  where t.oid = base and t.typname = 'ltree' and p.probin like '%/ltree')
      or exists (select from rowrelay.type_parts(base, of_collation))
         and not exists (select from rowrelay.type_parts(base, of_collation) as p
                          where not rowrelay.text_is_exact(p.type, p.collation, true));
end
$$;
