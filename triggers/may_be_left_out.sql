-- Purpose:    whether this transaction may have asked not to capture what it writes: then rowrelay.is_left_out()
--             decides. It is part of the plan of whoever calls it, and costs no call.
-- Parameters: capture_origin: whether to capture rowrelay's own writes
create or replace function rowrelay.may_be_left_out(capture_origin boolean) returns boolean
language sql stable as $$
  select pg_catalog.concat(pg_catalog.current_setting('rowrelay.skip', true),
                           case when not capture_origin then pg_catalog.current_setting('rowrelay.origin', true) end)
           operator(pg_catalog.<>) ''
$$;
