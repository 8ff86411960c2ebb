-- Purpose:    returns the numbers of columns by their names
-- Parameters: relation; names; their purpose, for the error message
-- Result:     numbers in the order of the names; null for null
-- Errors:     a column does not exist; a name is null
create or replace function rowrelay.attribute_numbers(relation regclass, names text[], purpose text) returns smallint[]
language plpgsql stable as $$
declare
  name    text;
  number  smallint;
  numbers smallint[];
begin
  if names is null then
    return null;
  end if;
  numbers := '{}';
  foreach name in array names loop
    if name is null then
      raise exception 'the name of a column of table % is null (%)', relation, purpose
        using errcode = 'null_value_not_allowed';
    end if;
    select a.attnum into number from pg_attribute a
     where a.attrelid = relation and a.attname = name and a.attnum > 0 and not a.attisdropped;
    if not found then
      raise exception 'column "%" of table % does not exist (%)', name, relation, purpose
        using errcode = 'undefined_column',
              hint = 'Its columns are: ' || (select string_agg(a.attname, ', ' order by a.attnum) from pg_attribute a
                                              where a.attrelid = relation and a.attnum > 0
                                                and not a.attisdropped) || '.';
    end if;
    numbers := numbers || number;
  end loop;
  return numbers;
end
$$;
