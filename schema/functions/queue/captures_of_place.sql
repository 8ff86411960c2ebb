-- Purpose:    returns the captures whose changes go where those of one capture go in a target, so that they must stay
--             in order: of the same table, before it was released and captured again; and of another table that had
--             this place before, and was released, dropped or routed there no longer. (Two routed tables may share a
--             place, if somebody has decided so; their changes are not ordered as long as both are.)
-- Parameters: capture; target
-- Result:     their ids, with its own
create or replace function rowrelay.captures_of_place(capture integer, target integer) returns integer[]
language sql stable as $$
  with c as (
    select c.id, c.relation, c.released_at is null and o.oid is not null and r.until_id is null as is_live, r.place
      from rowrelay.capture c
      left join pg_class o on o.oid = c.relation
      left join rowrelay.route r on r.capture = c.id and r.target = captures_of_place.target
  )
  select array_agg(other.id)
    from c
    join c as other on other.id = c.id or c.relation <> 0 and other.relation = c.relation
      or other.place = c.place and not (c.is_live and other.is_live)
   where c.id = captures_of_place.capture
$$;
