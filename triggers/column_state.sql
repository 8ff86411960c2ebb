-- Purpose:    returns a digest of what a generated trigger function depends on; see rowrelay.column_states()
-- Parameters: capture
-- Result:     null when the table is gone
create or replace function rowrelay.column_state(capture rowrelay.capture) returns text
language sql stable as $$
  select s.state from rowrelay.column_states(array[capture.id]) as s
$$;
