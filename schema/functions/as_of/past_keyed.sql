-- Purpose:    returns the statement for a past state of a table with a key. It works backwards from now: a row that has
--             not changed since then is as the table has it. For a changed row, the first later change tells whether it
--             existed, and what it was if its image before was kept; else the last earlier change does. After a
--             truncate it cannot work backwards: it builds all rows from the log, which has to begin with an empty
--             table.
-- Parameters: past; only_row: condition on the one wanted row, called new, null: all rows
-- Result:     a SELECT of the table's columns
create or replace function rowrelay.past_keyed(past rowrelay.past, only_row text default null) returns text
language plpgsql stable as $$
declare
  capture  rowrelay.capture := past.capture;
  shapes   record;
  columns  record;
  said     text;
  changes  constant text := '(h.op in (''i'', ''u'') or h.op = ''s'' and h.new_row is not null '
                            'or h.op = ''d'' and h.caveat -> ''target'' is null)';
begin
  select * into shapes from rowrelay.past_shapes(past);
  select * into columns from rowrelay.past_columns(past);
  said := format('case when b.new_row is null then null when b.id > %s then %s else %s end', shapes.last_from,
                 shapes.last_n,
                 rowrelay.past_shape_of('b.new_row', 'b.id', 'b.txid'));
  if past.cut_at is not null then
    return format($sql$
      with shape (n, until_id, altered_by, numbers, names, sorted, hidden, becomes) as (%1$s),
      last_before as materialized (
        select distinct on (h.key) h.id, h.txid, h.key, h.op, h.new_row, h.caveat
          from %2$s and %3$s and h.id > %4$s and %5$s
         order by h.key, h.id desc)
      %6$s$sql$,
      shapes.statement, past.log, past.counts, past.known, changes,
      rowrelay.past_images(past, columns.past_row, columns.base, format(
        'select b.id, b.key, case when b.key is not null then %s end as n, b.new_row as image, b.caveat '
        'from last_before b where b.op <> ''d'' or b.key is null', said), rowrelay.past_truncated(past)));
  end if;

  return format($sql$
    with shape (n, until_id, altered_by, numbers, names, sorted, hidden, becomes) as (%1$s),
    first_after as materialized (
      select distinct on (h.key) h.id, h.txid, h.key, h.op, h.old_row, h.new_row, h.caveat
        from %2$s and not %3$s and %4$s
       order by h.key, h.id),
    told as materialized (
      select t.*, case when t.key is not null then %5$s end as n
        from (select a.id, a.txid, a.key, a.caveat, case a.op when 's' then a.new_row else a.old_row end as image
                from first_after a where a.op <> 'i' or a.key is null) as t),
    last_before as materialized (
      select distinct on (h.key) h.id, h.txid, h.key, h.op, h.new_row, h.caveat
        from %6$s and %3$s and h.id > %7$s and %4$s
         and exists (select from told t where t.n is null)
         and (h.key is null or h.key in (select t.key from told t where t.n is null))
       order by h.key, h.id desc),
    said as materialized (
      select t.id, t.key, b.new_row as image, b.caveat,
             -- a change that could not be captured may have been of this row
             case when b.id > coalesce((select u.id from last_before u where u.key is null), 0) then %8$s end as n
        from told t left join last_before b on b.key = t.key
       where t.n is null and b.op is distinct from 'd')
    %9$s
       and not exists (select from first_after a where a.key = %10$s)
    union all
    %11$s
    union all
    %12$s$sql$,
    shapes.statement, past.recent, past.counts, changes, rowrelay.past_shape_of('t.image', 't.id', 't.txid'),
    past.log, past.known, said,
    concat_ws(' and ', rowrelay.past_present(capture, columns.present), only_row),
    rowrelay.key_expression(capture.relation, capture.key_columns, 'new'),
    rowrelay.past_images(past, columns.past_row, columns.base,
                         'select t.id, t.key, t.n, t.image, t.caveat from told t where t.n is not null'),
    rowrelay.past_images(past, columns.past_row, columns.base,
                         'select s.id, s.key, s.n, s.image, s.caveat from said s'));
end
$$;
