-- Purpose:    drops what has been kept for long enough, as rowrelay.keep() says and in no other way: for those who may run
--             rowrelay, but not decide what is dropped
-- Result:     as rowrelay.prune(), of one day at most
create or replace function rowrelay.prune_what_is_due()
returns table (day date, outcome text, note text, is_news boolean)
language sql security definer set search_path = pg_catalog, pg_temp as $$
  select p.day, p.outcome, p.note, p.is_news from rowrelay.prune(most => 1) as p
$$;
