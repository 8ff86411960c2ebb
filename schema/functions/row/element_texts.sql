-- Purpose:    turns the elements of an array in a row image into the texts that they have as values of a type
-- Parameters: elements: a JSON array, whose arrays are further dimensions; the others as for rowrelay.value_text()
-- Result:     the same array of texts
-- Errors:     an element is not valid for the type
create or replace function rowrelay.element_texts(elements json, types json, of_type text, is_text boolean) returns json
language plpgsql stable as $$
begin
  return (select coalesce(json_agg(case when json_typeof(e.value) = 'array'
                                        then rowrelay.element_texts(e.value, types, of_type, is_text)
                                        else to_json(rowrelay.value_text(e.value, types, of_type, is_text)) end
                                   order by e.n), '[]')
            from json_array_elements(elements) with ordinality as e(value, n));
end
$$;
