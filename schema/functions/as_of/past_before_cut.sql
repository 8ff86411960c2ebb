-- Purpose:    handles a truncate of the table after the given time, for one row: a change of the row between the two
--             tells what the row was, as if there were no truncate
-- Parameters: past of that one row; its key
-- Result:     past, without the truncate if it does not matter
-- Errors:     no_data_found: the log has nothing of the row but the truncate
create or replace function rowrelay.past_before_cut(past rowrelay.past, key text) returns rowrelay.past
language plpgsql stable as $$
declare
  is_told boolean;
begin
  if past.cut_at is null then
    return past;
  end if;
  execute format('select exists (select from %s and not %s and h.id < %s and h.op in (''i'', ''u'', ''d'', ''s''))',
                 past.recent, past.counts, past.cut_at) into is_told;
  if is_told then
    past.recent := past.recent || format(' and h.id < %s', past.cut_at);
    past.cut_at := null;
    return past;
  end if;
  execute format('select exists (select from %s and %s and h.id > %s and h.op in (''i'', ''u'', ''d'', ''s''))',
                 past.log, past.counts, past.known) into is_told;
  if not is_told and not past.complete then
    raise exception 'the log does not have row % of table % as it was before change %', key, (past.capture).relation,
      past.cut_at
      using errcode = 'no_data_found',
        detail = 'That change truncated the table, and the log has no earlier change of the row.';
  end if;
  return past;
end
$$;
