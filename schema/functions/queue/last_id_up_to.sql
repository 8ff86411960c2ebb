-- Purpose:    finds the next id for a reader that goes through the log in ranges of ids, because
--             rowrelay.skip_lost_ids() leaves huge gaps
-- Parameters: an id; days of the log
-- Result:     the largest id up to that one among the changes of these days; null: there is none
create or replace function rowrelay.last_id_up_to(id bigint, days date[]) returns bigint
language sql stable security definer set search_path = pg_catalog, pg_temp as $$
  select c.id from rowrelay.change c
   where c.id <= last_id_up_to.id and c.day = any (last_id_up_to.days)
   order by c.id desc limit 1
$$;
