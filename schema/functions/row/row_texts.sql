-- Purpose:    returns the values of row images as texts that the columns' types read back exactly, under any session
--             settings. Images of one table with the same columns are read by one query.
-- Parameters: changes; one image of each, null for none
-- Result:     for each image its position; {column: text, or null} for the columns of the image that can be written, by
--             their present names; null for null
-- Errors:     see rowrelay.text_columns()
create or replace function rowrelay.row_texts(changes rowrelay.change[], images json[], out place bigint,
                                              out texts jsonb) returns setof record
language plpgsql stable set search_path = pg_catalog, pg_temp
set datestyle = 'ISO, MDY' set timezone = 'UTC' set intervalstyle = 'postgres'
set array_nulls = on set bytea_output = 'hex'
set extra_float_digits = 1 set lc_monetary = 'C' set quote_all_identifiers = off
set plan_cache_mode = force_custom_plan as $$ -- plans for as many rows as there are
declare
  part    record;
  columns record;
begin
  return query select u.n, null::jsonb from unnest(images) with ordinality as u(image, n) where u.image is null;
  for part in
    select (array_agg(g.change order by g.n))[1] as change, array_agg(g.n order by g.n) as places,
           array_agg(i.image order by g.n) as images
      from (select c as change, c.id, c.capture, c.txid, (c.caveat -> 'text_columns')::text as text_columns,
                   row_number() over () as n
              from unnest(changes) as c) as g
      join unnest(images) with ordinality as i(image, n) on i.n = g.n and i.image is not null
     cross join lateral (select string_agg(format('%I %s', e.key, json_typeof(e.value) in ('array', 'object')), ', ')
                           from json_each(i.image) as e) as k(columns)
     -- what rowrelay.image_shape() asks of the change
     cross join lateral (select string_agg(concat(g.id <= s.from_id, s.altered_by <= g.txid), ', ' order by s.id)
                           from rowrelay.shape s where s.capture = g.capture) as h(shapes)
     group by g.capture, g.text_columns, k.columns, h.shapes
     order by min(g.id)
  loop
    columns := rowrelay.text_columns(part.change, part.images[1]);
    return query execute
      format('select u.n, %s from unnest($1, $2) as u(n, given) cross join lateral (select %s) as i(image)',
             case when columns.names is null then '''{}''::jsonb'
                  else format('jsonb_object($3, array[%s]::text[])', columns.expressions) end,
             case when columns.becomes is null then 'u.given'
                  else '(rowrelay.rename_image(u.given, null, $4, $5)).renamed' end)
      using part.places, part.images, columns.names, columns.called, columns.becomes;
  end loop;
end
$$;
