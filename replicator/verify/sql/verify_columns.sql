-- Names from a JSON array, in their order.
--   $1 the array
select n.name from json_array_elements_text($1::json) with ordinality as n(name, position) order by n.position;
