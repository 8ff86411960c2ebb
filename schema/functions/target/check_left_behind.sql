-- Purpose:    refuses to route a table to a place where another target of the same database still brings older changes:
--             nothing keeps the changes of two targets in order. Waits for writers of the table that went there before.
-- Parameters: target; place there, see rowrelay.place_of()
-- Errors:     names the other target and what to do; no lock on that table within a minute
create or replace function rowrelay.check_left_behind(target rowrelay.target, place text) returns void
language plpgsql as $$
declare
  former record;
begin
  if target.options ->> 'mode' = 'append'
     or not coalesce((select k.overwrites from rowrelay.target_kind(target.url) as k), false) then
    return;
  end if;
  for former in
    select t.id, t.name, r.capture, o.oid::regclass as relation, c.relation_name,
           case when c.released_at is null and o.oid is not null then rowrelay.captured_tables(c) end as tables
      from rowrelay.target t
      join rowrelay.route r on r.target = t.id and r.place = check_left_behind.place
      join rowrelay.capture c on c.id = r.capture
      left join pg_class o on o.oid = c.relation
     where t.id <> target.id and t.url = target.url and t.dropped_at is null
       and (r.until_id is not null or o.oid is null) -- a dropped table has left it, too
       and t.options ->> 'mode' is distinct from 'append'
       and not exists (select from rowrelay.document d where d.target = t.id)
     order by t.id, r.capture
  loop
    if former.tables is not null then
      perform rowrelay.lock_tables(former.tables, 'share row exclusive', '1 min');
    end if;
    if exists (select from rowrelay.refusal f where f.target = former.id and f.capture = former.capture)
       or exists (select from rowrelay.queue q
                    join rowrelay.change h on h.id = q.change_id and h.day = q.day
                   where q.lane between rowrelay.lane_number(former.id, -1) and rowrelay.lane_number(former.id, 1023)
                     and h.capture = former.capture) then
      raise exception 'target "%" still has changes of table % for the same place', former.name,
        coalesce(former.relation::text, former.relation_name)
        using errcode = 'object_not_in_prerequisite_state',
              detail = format('Target "%s" is the same database, and changes of two targets are not kept in order.',
                              target.name),
              hint = 'Wait until they are delivered; refused ones must be retried or skipped: '
                       || rowrelay.command('rowrelay errors --target %s',
                                           'select * from rowrelay.errors where target = %L;', former.name);
    end if;
  end loop;
end
$$;
