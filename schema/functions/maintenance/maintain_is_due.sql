-- Purpose:    whether rowrelay.maintain() would do anything if it were called now; costs next to nothing
create or replace function rowrelay.maintain_is_due() returns boolean
language sql stable security definer set search_path = pg_catalog, pg_temp as $$
  select not exists (select from rowrelay.job j
                      where j.name = 'maintain'
                        and j.held_until between clock_timestamp() and clock_timestamp() + interval '30 s')
$$;
