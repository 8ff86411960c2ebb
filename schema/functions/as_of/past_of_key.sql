-- Purpose:    finds the few changes that determine what one row was at a time, under each spelling of its key
-- Parameters: capture; after_id: changes up to this id are ignored; log_since: changes captured before this do not tell
--             what the row was; at: a time, or null; seen: a snapshot, or null; key
-- Result:     ids and days of these changes; unfinished: see rowrelay.counts_at()
create or replace function rowrelay.past_of_key(capture rowrelay.capture, after_id bigint, log_since timestamptz,
                                                at timestamptz, seen pg_snapshot, key text,
                                                out ids bigint[], out days date[], out unfinished xid8[])
language plpgsql stable as $$
declare
  spelling text;
  past     record;
begin
  ids := '{}';
  days := '{}';
  unfinished := '{}';
  foreach spelling in array rowrelay.spellings(array[(past_of_key.capture).id], array[past_of_key.key]) loop
    past := rowrelay.past_of_spelling(past_of_key.capture, after_id, log_since, at, seen, spelling);
    ids := ids || past.ids;
    days := days || past.days;
    unfinished := unfinished || past.unfinished;
  end loop;
end
$$;
