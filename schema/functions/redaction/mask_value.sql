-- Purpose:    returns SQL for the value that a masked column has in the past of a table
-- Parameters: mask: JSON value; type and type modifier of the column
-- Result:     an expression of that type; null when the mask is not valid for the type
create or replace function rowrelay.mask_value(mask json, type oid, modifier integer) returns text
language plpgsql stable as $$
declare
  value text;
begin
  if rowrelay.base_type(type) in ('json'::regtype, 'jsonb'::regtype) then
    return format('%L::%s', mask, format_type(type, modifier));
  end if;
  execute format('select x.v::text from json_to_record($1) as x(v %s)', format_type(type, modifier))
     into value using json_build_object('v', mask);
  return format('%L::%s', value, format_type(type, modifier));
exception when others then
  return null;
end
$$;
