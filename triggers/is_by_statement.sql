-- Purpose:    whether a capture has statement triggers: that is wanted, and possible
-- Parameters: capture
create or replace function rowrelay.is_by_statement(capture rowrelay.capture) returns boolean
language plpgsql stable as $$
begin
  return capture.per = 'statement' and rowrelay.statement_obstacle(capture) is null;
end
$$;
