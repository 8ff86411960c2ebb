-- Purpose:    what is known of one row when its table was truncated after the moment: a change of it between the two says
--             what it was, as if there were no truncate
-- Parameters: past of that one row; its key
-- Result:     past, in which the truncate is left out if it is of no matter
-- Errors:     no_data_found: the truncate is all there is of the row
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
    raise exception 'what row % of table % was before change % is not in the log', key, (past.capture).relation, past.cut_at
      using errcode = 'no_data_found', detail = 'That is when the table was truncated. The row had not changed since the log begins, if it was there.';
  end if;
  return past;
end
$$;
