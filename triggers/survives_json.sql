-- Purpose:    whether every value of a type can be brought back from what row_to_json makes of it, when it is a part of
--             another value. Parts are not looked at one by one, so one that may not makes the whole travel as text.
-- Parameters: a type
-- Result:     false for json (JSON null would become SQL null), for arrays (those that do not begin at 1 would), and for
--             records with any of these. Casts to json are not asked for: no image is made by one (rowrelay.safe_json).
create or replace function rowrelay.survives_json(part oid) returns boolean
language plpgsql stable as $$
declare
  base  oid := rowrelay.base_type(part);
  type  pg_type;
begin
  select t.* into strict type from pg_type t where t.oid = base;
  return base not in ('json'::regtype, 'jsonb'::regtype)
    and type.typcategory <> 'A'
    and (type.typtype <> 'c'
         or not exists (select from pg_attribute a
                         where a.attrelid = type.typrelid and a.attnum > 0 and not a.attisdropped
                           and not rowrelay.survives_json(a.atttypid)));
end
$$;
