-- Purpose:    refuses a name for a target or a document that a running process could not take, which would end it and
--             with it what is delivered to others, or that could not be named on a command line
-- Parameters: name
-- Errors:     says what is wrong with it
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
    raise exception 'the target''s name has a control character' using errcode = 'invalid_parameter_value';
  end if;
end
$$;
