-- Purpose:    the statement that gives a captured table, or one of its rows, as it was at a moment
-- Parameters: relation; at: a time, or null; seen: a snapshot, or null; key: of the one row that is asked for, null: all
-- Result:     a SELECT of the table's columns. It ends with no_data_found when the log does not say what a row was.
-- Errors:     as rowrelay.past_of(); no_data_found: the table was truncated since; a key that its type does not read
create or replace function rowrelay.past_statement(relation regclass, at timestamptz, seen pg_snapshot, key text default null)
returns text language plpgsql stable as $$
declare
  past     rowrelay.past;
  only_row record;
begin
  if key is null then
    past := rowrelay.past_of(relation, at, seen, null);
    if past.cut_at is not null and not past.complete then
      raise exception 'table % was truncated by change %, and what was in it before is not all in the log', relation, past.cut_at
        using errcode = 'no_data_found',
              detail = 'Rows that had not changed since the log begins are lost.',
              hint = 'rowrelay.row_as_of() knows of single rows.';
    end if;
    return case when cardinality(rowrelay.live_key(past.capture)) > 0 then rowrelay.past_keyed(past) else rowrelay.past_keyless(past) end;
  end if;

  select * into only_row from rowrelay.past_row(relation, key);
  past := rowrelay.past_of(relation, at, seen, only_row.key);
  return rowrelay.past_keyed(rowrelay.past_before_cut(past, only_row.key), only_row.condition);
end
$$;
