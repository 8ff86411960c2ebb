-- Purpose:    under which type the default operator class for hashing takes a type: itself, text for varchar, or what
--             stands for all arrays, enums, ranges or rows
-- Parameters: type (a domain counts as what it is made of)
-- Result:     that type; null: there is none
create or replace function rowrelay.hashed_as(of_type oid) returns oid
language plpgsql stable as $$ -- rather than SQL, because its plan is kept
declare
  base constant oid := rowrelay.base_type(of_type);
begin
  return (
    select k.oid
      from pg_type t
      join pg_opclass c on c.opcmethod = (select m.oid from pg_am m where m.amname = 'hash') and c.opcdefault
      join pg_type k on k.oid = c.opcintype
     where t.oid = base
       and (k.oid = t.oid
            or k.oid = 'text'::regtype and t.oid = 'varchar'::regtype
            or k.oid < 16384
               and k.typname = case when exists (select from pg_type e where e.typarray = t.oid) then 'anyarray'
                                    else case t.typtype when 'e' then 'anyenum' when 'r' then 'anyrange'
                                                        when 'm' then 'anymultirange' when 'c' then 'record' end end)
     order by k.oid = t.oid desc
     limit 1);
end
$$;
