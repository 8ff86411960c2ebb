-- Purpose:    returns the present capture of a table and locks the configuration, then its row
-- Parameters: relation
-- Result:     its row in rowrelay.capture
-- Errors:     the table is not captured
create or replace function rowrelay.captured(relation regclass) returns rowrelay.capture
language plpgsql as $$
declare
  found_capture rowrelay.capture;
begin
  perform rowrelay.lock_configuration();
  select c.* into found_capture from rowrelay.capture c
   where c.relation = captured.relation and c.released_at is null
     for update;
  if not found then
    raise exception 'table % is not captured', relation
      using errcode = 'undefined_object',
            hint = 'Capture it first: '
                     || rowrelay.command('rowrelay capture %s', 'select rowrelay.capture_table(%L);', relation::text);
  end if;
  return found_capture;
end
$$;
