-- Purpose:    whether row_to_json preserves every value of a type that is a part of another value. Parts are not
--             checked one by one: if any may not survive, the whole value becomes text.
-- Parameters: a type
-- Result:     false for json (JSON null would become SQL null), for arrays (their lower bounds are lost), and for
--             records with any of these. Casts to json do not matter: images never use them (rowrelay.safe_json).
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
