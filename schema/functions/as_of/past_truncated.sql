-- Purpose:    returns SQL for whether a row read from an image survived truncates of single partitions until the given
--             time
-- Parameters: past
-- Result:     a condition on a row called i with id, of the change that the image is from, and record r
create or replace function rowrelay.past_truncated(past rowrelay.past) returns text
language plpgsql stable as $$
declare
  condition text;
begin
  execute format($sql$
    with own as materialized (select t.* from rowrelay.past_types($3) as t where not t.is_image)
    select string_agg(format('not (i.id < %%s and (select (%%s) is true from (select %%s) as o))', h.change_id,
                             h.condition,
             -- the condition has the columns' former names
             (select string_agg(format('(i.r).%%I as %%I', a.name, u.name), ', ')
                from (select s.numbers, s.names from rowrelay.shape s
                       where s.capture = h.capture and s.from_id < h.change_id order by s.id desc limit 1) as s
               cross join lateral unnest(s.numbers, s.names) as u(number, name)
                join own a on a.number = u.number)),
           ' and ')
      from rowrelay.readable_truncation h
     where h.capture = $1 and h.change_id > $2 and h.condition is not null and %s$sql$, past.counts)
    into condition
   using (past.capture).id, past.known, past;
  return coalesce(condition, 'true');
end
$$;
