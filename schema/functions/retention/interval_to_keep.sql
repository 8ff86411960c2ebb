-- Purpose:    reads how long changes are to be kept
-- Parameters: an interval of at least a day; 'forever'; or 'default'
-- Result:     the interval; 100000 years: for ever; null: default
-- Errors:     no interval; shorter than a day
create or replace function rowrelay.interval_to_keep(how_long text) returns interval
language plpgsql stable as $$
declare
  forever constant interval := '100000 years';
  chosen  interval;
begin
  if how_long is null then
    raise exception 'no interval was given for how long to keep changes' using errcode = 'invalid_parameter_value',
      hint = 'Give an interval such as ''90 days'', or ''forever''.';
  elsif how_long = 'forever' then
    chosen := forever;
  elsif how_long <> 'default' then
    chosen := rowrelay.read_interval(how_long);
    if chosen < interval '1 day' or chosen > forever then
      raise exception 'changes cannot be kept for %', how_long using errcode = 'invalid_parameter_value',
        detail = 'The log is dropped by whole days.', hint = 'Give an interval of at least a day, or ''forever''.';
    end if;
  end if;
  return chosen;
end
$$;
