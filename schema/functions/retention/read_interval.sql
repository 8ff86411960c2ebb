-- Purpose:    reads an interval that a person has typed
-- Parameters: its text; null: null
-- Errors:     it is no interval
create or replace function rowrelay.read_interval(words text) returns interval
language plpgsql stable as $$
begin
  return words::interval;
exception when data_exception then
  raise exception '"%" is not an interval', words using errcode = sqlstate,
    hint = 'Give an interval such as ''90 days'' or ''6 months''.';
end
$$;
