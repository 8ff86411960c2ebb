-- Purpose:    returns SQL that turns images in the log into rows of a captured table, whatever its columns were called
--             then
-- Parameters: past; columns and base: past_row and base of rowrelay.past_columns(); source: SQL for rows of id, key,
--             n, image, caveat (those without n cannot be read); condition on a row called i with id and record r
-- Result:     a SELECT of the table's columns, which needs rowrelay.past_shapes() in WITH
create or replace function rowrelay.past_images(past rowrelay.past, columns text, base text, source text,
                                                condition text default 'true') returns text
language plpgsql stable as $$
declare
  capture rowrelay.capture := past.capture;
  texts   text := '''{}''::pg_catalog.text[]';
begin
  if exists (select from pg_attribute a where a.attrelid = capture.relation and a.attnum > 0 and not a.attisdropped
                                          and rowrelay.base_type(a.atttypid) in ('json'::regtype,
                                              'jsonb'::regtype)) then
    texts := 'array(select pg_catalog.json_array_elements_text(x.caveat -> ''text_columns''))';
  end if;
  return format($sql$
    select %1$s
      from (select x.id, %2$s as r, f.image, f.texts, s.numbers, s.hidden
              from (select w.id, coalesce(w.n, 1) as n, w.caveat,
                           case when w.n is null then rowrelay.missing_image(%5$s, w.key, w.id)
                             else w.image end as image
                      from (%3$s) as w) as x
              join shape s on s.n = x.n
             cross join lateral (
               select x.image, %4$s where s.becomes = s.names
               union all
               select f.renamed, f.renamed_texts from rowrelay.rename_image(x.image, %4$s, s.names, s.becomes) as f
                where s.becomes is distinct from s.names) as f(image, texts)
             %7$s
            offset 0) as i
     where %6$s$sql$,
    columns,
    -- not the row's name alone, which a column may have
    case when past.is_shown then 'rowrelay_row.*::pg_catalog.record'
         else format('pg_catalog.json_populate_record(%s, f.image)', base) end,
    source, texts, capture.relation::oid, condition,
    case when past.is_shown
         then format('cross join lateral pg_catalog.json_to_record(f.image) as rowrelay_row(%s)', base) end);
end
$$;
