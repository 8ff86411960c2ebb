-- Purpose:    returns SQL for the columns of a captured table as as_of() shows them: columns left out of the log are
--             null in all rows, and masked columns have their mask in all rows, so that they do not reveal whether a
--             row has changed
-- Parameters: past
-- Result:     present: expressions on a row of the table called new; past_row: the same on r (a record read from an
--             image), image, texts (its json columns that it has as text), numbers and hidden (of its shape); base:
--             record with the values of columns that an image lacks, on the shape s; for rows that are only shown the
--             names and types of the columns of r
create or replace function rowrelay.past_columns(past rowrelay.past, out present text, out past_row text, out base text)
language plpgsql stable as $$
declare
  capture   rowrelay.capture := past.capture;
  now_shape rowrelay.shape := past.shape;
begin
  -- a constant would be named after its type, and past_json() shows the names
  select string_agg(format('%s as %I', coalesce(w.fixed, c.present), c.name), ', ' order by c.number),
         string_agg(format('%s as %I',
                           coalesce(w.fixed,
                                    case when past.is_shown and a.attmissingval is not null
                                         then format('case when i.image -> %L is null then %s else %s end', c.name,
                                                     w.missing, w.past_row)
                                         else w.past_row end), c.name), ', ' order by c.number),
         case when past.is_shown
              then coalesce(string_agg(format('%I %s', c.name, c.type_name), ', ' order by c.number)
                              filter (where not c.is_image), 'rowrelay_none pg_catalog.text')
              -- the value in rows that were not written since the column was added
              else 'row(' || string_agg(case when a.attmissingval is null or w.fixed is not null
                                             then 'null::' || c.type_name else w.missing end, ', ' order by c.number)
                   || format(')::%s', capture.relation) end
    into present, past_row, base
    from rowrelay.past_types(past) as c
    join pg_attribute a on a.attrelid = capture.relation and a.attnum = c.number
   cross join lateral (
     select case when c.number = any (now_shape.hidden) then 'null::' || c.type_name
                 when now_shape.masks -> c.name is not null
                 then coalesce(rowrelay.mask_value(now_shape.masks -> c.name, c.type, c.modifier),
                               'null::' || c.type_name) end as fixed,
            format(case when c.is_image then 'case when %1$s <> all (%4$s.numbers) and %1$s <> all (%4$s.hidden) then '
                                             'pg_catalog.to_json(%2$L::pg_catalog.text) end'
                        else 'case when %1$s <> all (%4$s.numbers) and %1$s <> all (%4$s.hidden) then %2$L::%3$s end'
                   end, c.number, (a.attmissingval::text::text[])[1], c.type_name,
                   case when past.is_shown then 'i' else 's' end) as missing,
            case when c.is_image then format('i.image -> %L', c.name)
                 when rowrelay.base_type(c.type) in ('json'::regtype, 'jsonb'::regtype) then format(
                   'case when %1$L = any (i.texts) then (i.image ->> %1$L)::%3$s '
                   'when pg_catalog.json_typeof(i.image -> %1$L) <> ''null'' then (i.image -> '
                   '%1$L)::pg_catalog.text::%3$s '
                   'else (i.r).%2$I end', c.name, c.name, c.type_name)
                 else format('(i.r).%I', c.name) end as past_row) as w;
  if past.is_shown is not true
     and not exists (select from pg_attribute a where a.attrelid = capture.relation and a.attnum > 0
                     and a.attmissingval is not null) then
    base := format('null::%s', capture.relation);
  end if;
end
$$;
