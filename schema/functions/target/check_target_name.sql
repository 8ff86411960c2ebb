-- Purpose:    refuses a name of a target or document that no command line could hold, or that would end running
--             processes, and with them delivery to all targets
-- Parameters: name
-- Errors:     say what is wrong with it
create or replace function rowrelay.check_target_name(name text) returns void
language plpgsql immutable as $$
begin
  if coalesce(name, '') !~ E'\\S' then
    raise exception 'the target''s name is empty' using errcode = 'invalid_parameter_value';
  end if;
  if octet_length(name) > 63 then
    raise exception 'the target''s name is longer than 63 bytes' using errcode = 'invalid_parameter_value';
  end if;
  if name ~ E'[\\x01-\\x1f\\x7f]' then
    raise exception 'the target''s name contains a control character' using errcode = 'invalid_parameter_value';
  end if;
end
$$;
