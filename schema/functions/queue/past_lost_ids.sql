-- Purpose:    finds where a sequence must continue so that it gives out nothing that may have been given out and lost:
--             at the number of microseconds since the beginning of 2026, because no source has made that many changes;
--             two servers that continue from the same data continue at different numbers. If the clock is behind the
--             sequence (a wrong clock, or two starts in a row), after a random gap
-- Parameters: last: what is known to have been given out last
create or replace function rowrelay.past_lost_ids(last bigint) returns bigint
language plpgsql volatile set search_path = pg_catalog, pg_temp as $$
declare
  near  constant bigint := 1000000;    -- ids that may be lost where clocks differ by little
  step  constant bigint := 1000000000; -- a day of 10,000 changes a second
  clock constant bigint := extract(epoch from clock_timestamp() - timestamptz '2026-01-01 00:00:00+00') * 1000000;
begin
  return case when last + near < clock then clock else last + step + (random() * step)::bigint end;
end
$$;
