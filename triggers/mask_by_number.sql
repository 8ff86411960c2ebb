-- Purpose:    returns a mask with columns' numbers instead of names, so that a rename does not uncover anything
-- Parameters: relation; {"name": value}
-- Result:     {"number": value}
-- Errors:     not an object; a column does not exist
create or replace function rowrelay.mask_by_number(relation regclass, mask jsonb) returns jsonb
language plpgsql stable as $$
begin
  if jsonb_typeof(mask) <> 'object' then
    raise exception 'mask is not a JSON object' using errcode = 'invalid_parameter_value',
      hint = 'Write {"column": "value to show instead"}.';
  end if;
  return (select coalesce(jsonb_object_agg((rowrelay.attribute_numbers(relation, array[m.key], 'mask'))[1]::text,
                                           m.value), '{}')
            from jsonb_each(mask) as m);
end
$$;
