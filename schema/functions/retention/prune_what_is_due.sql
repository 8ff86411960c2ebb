-- Purpose:    drops what rowrelay.keep() no longer keeps, for roles that may run rowrelay but not decide what is
--             dropped
-- Result:     as for rowrelay.prune(), of one day at most
create or replace function rowrelay.prune_what_is_due()
returns table (day date, outcome text, note text, is_news boolean)
language sql security definer set search_path = pg_catalog, pg_temp as $$
  select p.day, p.outcome, p.note, p.is_news from rowrelay.prune(most => 1) as p
$$;
