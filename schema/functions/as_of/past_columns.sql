-- Purpose:    returns SQL for the columns of a captured table as as_of() shows them: columns left out of the log are
--             null in all rows, and masked columns have their mask in all rows, so that they do not reveal whether a
--             row has changed
-- Parameters: past
-- Result:     present: expressions on a row of the table called new; past_row: the same on r (a record read from an
--             image), image and texts (its json columns that it has as text); base: record with the values of columns
--             that an image lacks, on the shape s
create or replace function rowrelay.past_columns(past rowrelay.past, out present text, out past_row text, out base text)
language plpgsql stable as $$
declare
  capture   rowrelay.capture := past.capture;
  now_shape rowrelay.shape := past.shape;
begin
  select string_agg(coalesce(w.fixed, format('new.%I', a.attname)), ', ' order by a.attnum),
         string_agg(coalesce(w.fixed,
                             case when w.is_json then format(
                               'case when %1$L = any (i.texts) then (i.image ->> %1$L)::%3$s '
                               'when pg_catalog.json_typeof(i.image -> %1$L) <> ''null'' then (i.image -> '
                               '%1$L)::pg_catalog.text::%3$s '
                               'else (i.r).%2$I end', a.attname, a.attname, w.type) end,
                             format('(i.r).%I', a.attname)), ', ' order by a.attnum),
         -- the value in rows that were not written since the column was added
         'row(' || string_agg(
           case when a.attmissingval is null or w.fixed is not null then 'null::' || w.type
                else format('case when %s <> all (s.numbers) and %s <> all (s.hidden) then %L::%s end',
                            a.attnum, a.attnum, (a.attmissingval::text::text[])[1], w.type) end, ', ' order by a.attnum)
         || format(')::%s', capture.relation)
    into present, past_row, base
    from pg_attribute a
   cross join lateral (
     select format_type(a.atttypid, a.atttypmod) as type,
            rowrelay.base_type(a.atttypid) in ('json'::regtype, 'jsonb'::regtype) as is_json,
            case when a.attnum = any (now_shape.hidden) then 'null::' || format_type(a.atttypid, a.atttypmod)
                 when now_shape.masks -> a.attname is not null
                 then coalesce(rowrelay.mask_value(now_shape.masks -> a.attname, a.atttypid, a.atttypmod),
                               'null::' || format_type(a.atttypid, a.atttypmod)) end as fixed) as w
   where a.attrelid = capture.relation and a.attnum > 0 and not a.attisdropped;
  if not exists (select from pg_attribute a where a.attrelid = capture.relation and a.attnum > 0
                 and a.attmissingval is not null) then
    base := format('null::%s', capture.relation);
  end if;
end
$$;
