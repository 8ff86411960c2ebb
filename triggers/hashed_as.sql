-- Purpose:    returns the type under which a type has a default hash operator class: itself, text for varchar, or the
--             pseudo-type of all arrays, enums, ranges or rows
-- Parameters: type (a domain counts as its base type)
-- Result:     that type; null: there is none
create or replace function rowrelay.hashed_as(of_type oid) returns oid
language plpgsql stable as $$ -- rather than SQL, because its plans are kept
declare
  base   constant oid := rowrelay.base_type(of_type);
  others constant oid := case
    when base = 'varchar'::regtype then 'text'::regtype
    when rowrelay.element_type(base) is not null then 'anyarray'::regtype
    else (select case t.typtype when 'e' then to_regtype('anyenum') when 'r' then to_regtype('anyrange')
                                when 'm' then to_regtype('anymultirange') when 'c' then to_regtype('record') end
            from pg_type t where t.oid = base) end;
begin
  return (select c.opcintype from pg_opclass c
           where c.opcmethod = (select m.oid from pg_am m where m.amname = 'hash') and c.opcdefault
             and c.opcintype in (base, others)
           order by c.opcintype = base desc
           limit 1);
end
$$;
