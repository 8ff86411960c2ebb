-- Purpose:    returns the statement for a past state of a captured table or of one of its rows
-- Parameters: relation; at: a time, or null; seen: a snapshot, or null; key: of the one wanted row, null: all;
--             is_shown: whether people only read the rows, so that no CHECK of a domain has to run
-- Result:     a SELECT of the table's columns; of each row as JSON if is_shown. It fails with no_data_found when the
--             log does not tell what a row was.
-- Errors:     as for rowrelay.past_of(); no_data_found: the table was truncated later; a key is not valid for its type
create or replace function rowrelay.past_statement(relation regclass, at timestamptz, seen pg_snapshot,
                                                   key text default null, is_shown boolean default false)
returns text language plpgsql stable as $$
declare
  past     rowrelay.past;
  only_row record;
  shown    record;
  keyed    text;
begin
  if key is null then
    past := rowrelay.past_of(relation, at, seen, null);
    past.is_shown := is_shown;
    if past.cut_at is not null and not past.complete then
      raise exception 'change % truncated table %, and the log does not have all rows from before it',
        past.cut_at, relation
        using errcode = 'no_data_found',
              detail = 'Rows that did not change between the beginning of the log and the truncate are lost.',
              hint = 'Query single rows: '
                     || rowrelay.command('rowrelay log %1$s KEY --as-of %2$s',
                                         case when seen is null
                                              then 'select * from rowrelay.row_as_of(null::%1$s, ''KEY'', %2$L);'
                                              else 'select * from rowrelay.row_as_of_snapshot(null::%1$s, ''KEY'', '
                                                   '%2$L);' end,
                                         relation::text, coalesce(at::text, seen::text));
    end if;
    if cardinality(rowrelay.live_key(past.capture)) = 0 then
      return rowrelay.past_keyless(past);
    end if;
    keyed := rowrelay.past_keyed(past);
  else
    select * into only_row from rowrelay.past_row(relation, key);
    past := rowrelay.past_of(relation, at, seen, only_row.key);
    past.is_shown := is_shown;
    keyed := rowrelay.past_keyed(rowrelay.past_before_cut(past, only_row.key), only_row.condition);
  end if;
  select * into shown from rowrelay.past_shown(past);
  return case when is_shown then format('select %s from (%s) as p%s', shown.value, keyed, shown.names) else keyed end;
end
$$;
