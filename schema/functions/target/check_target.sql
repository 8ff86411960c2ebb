-- Purpose:    refuses a URL or options that cannot work, before anything is stored
-- Parameters: url, options (null values are allowed: they reset an option)
-- Errors:     each names what is wrong and what is allowed
create or replace function rowrelay.check_target(url text, options jsonb) returns void
language plpgsql as $$
declare
  in_force     jsonb;
  lease        integer;
  push_timeout integer;
begin
  perform rowrelay.check_target_url(url);
  perform rowrelay.check_target_options(url, options);
  perform rowrelay.check_target_headers(options);
  select k.defaults || jsonb_strip_nulls(options) into in_force from rowrelay.target_kind(url) as k;
  lease := in_force ->> 'lease';
  push_timeout := in_force ->> 'push_timeout';
  -- Else another process could claim a batch that is still being pushed.
  if (in_force ->> 'claim' = 'lease' or in_force ->> 'guarantee' = 'at-most-once') and lease <= push_timeout then
    raise exception 'lease must be longer than push_timeout (%), not %', push_timeout, lease
      using errcode = 'invalid_parameter_value',
            hint = format('Set lease to more than %s, better %s, or push_timeout to less than %s.', push_timeout,
                          2 * push_timeout, lease);
  end if;
  perform rowrelay.check_target_pairs(in_force);
end
$$;
