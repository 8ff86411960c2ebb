-- Purpose:    returns the statement for a past state of a table without a key. Rows are identified by all of their
--             values, so it counts equal rows: those that exist now and, for every later change, one less of the row
--             after it and one more of the row before it. After a truncate it counts forwards from an empty table.
-- Parameters: past
-- Result:     a SELECT of the table's columns, or of each row as JSON
create or replace function rowrelay.past_keyless(past rowrelay.past) returns text
language plpgsql stable as $$
declare
  capture  rowrelay.capture := past.capture;
  shapes   record;
  columns  record;
  shown    record;
  forwards boolean := past.cut_at is not null;
  changes  text;
  rows     text[] := '{}';
  part     record;
begin
  select * into shapes from rowrelay.past_shapes(past);
  select * into columns from rowrelay.past_columns(past);
  select * into shown from rowrelay.past_shown(past);
  changes := case when forwards then format('%s and %s and h.id > %s', past.log, past.counts, past.known)
                  else format('%s and not %s', past.recent, past.counts) end || ' and h.op in (''i'', ''u'', ''d'')';
  if not forwards then
    rows := array[format('select %s as r, %s as text, 1 as weight from (%s) as p%s', shown.value, shown.text,
                         rowrelay.past_present(capture, columns.present), shown.names)];
  end if;
  for part in
    select * from (values ('new_row', '''d''', case when forwards then 1 else -1 end),
                          ('old_row', '''i''', case when forwards then -1 else 1 end)) as v(image, without, weight)
  loop
    rows := rows || format('select %s, %s, %s from (%s) as p%s', shown.value, shown.text, part.weight,
      rowrelay.past_images(past, columns.past_row, columns.base, format(
        'select c.id, c.key, case when c.key is null then %s end as n, c.%I as image, c.caveat from changes c where '
        'c.op <> %s',
        rowrelay.past_shape_of('c.' || part.image, 'c.id', 'c.txid'), part.image, part.without),
        case when forwards then rowrelay.past_truncated(past) else 'true' end), shown.names);
  end loop;
  return format($sql$
    with shape (n, until_id, altered_by, numbers, names, sorted, hidden, becomes) as (%1$s),
    changes as materialized (
      select h.id, h.txid, h.op, h.key, h.old_row, h.new_row, h.caveat from %2$s),
    counted as materialized (
      select (pg_catalog.array_agg(w.r))[1] as r, w.text, sum(w.weight)::pg_catalog.int4 as weight
        from (%3$s) as w(r, text, weight)
       group by w.text
      having sum(w.weight) <> 0)
    select %5$s
      from counted c
     cross join pg_catalog.generate_series(1, case when c.weight > 0 then c.weight
                                                   else rowrelay.missing_row(%4$s, c.text) end)$sql$,
    shapes.statement, changes, array_to_string(rows, E'\n union all\n'), capture.relation::oid,
    case when past.is_shown then 'c.r' else '(c.r).*' end);
end
$$;
