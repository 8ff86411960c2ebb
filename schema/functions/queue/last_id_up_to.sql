-- Purpose:    for who reads the log in ranges of ids: where to go on where there are none, since rowrelay.skip_lost_ids() leaves
--             gaps of millions of millions
-- Parameters: an id; days of the log
-- Result:     the last change of these days that has this id or a smaller one; null when there is none
create or replace function rowrelay.last_id_up_to(id bigint, days date[]) returns bigint
language sql stable security definer set search_path = pg_catalog, pg_temp as $$
  select c.id from rowrelay.change c
   where c.id <= last_id_up_to.id and c.day = any (last_id_up_to.days)
   order by c.id desc limit 1
$$;
