-- Purpose:    refuses to undo changes after which their rows were changed again
-- Parameters: the changes to undo, each the last of its row
-- Errors:     the log has a later change of one of the rows, or a truncate of its table
create or replace function rowrelay.check_not_changed_since(changes rowrelay.change[]) returns void
language plpgsql stable as $$
declare
  last record;
begin
  with ours as materialized (
    select array_agg(r.relation order by r.last_id) as relations, array_agg(r.key order by r.last_id) as keys,
           array_agg(r.last_id order by r.last_id) as ids
      from (select c.relation, h.key, max(h.id) as last_id
              from unnest(changes) as h join rowrelay.capture c on c.id = h.capture
             where h.op in ('i', 'u', 'd') and h.key is not null
             group by c.relation, h.key) as r
  )
  select o.relations[l.position] as relation, o.keys[l.position] as key, o.ids[l.position] as last_id, h.id, h.op,
         coalesce(h.actor, h.db_user) as actor, h.captured_at into last
    from ours o
    cross join lateral rowrelay.latest_changes(o.relations, o.keys, o.ids, null, '{i,u,d}') as l
    cross join lateral (select c.* from rowrelay.readable_change c where c.id = l.change_id
                        and c.day = l.day offset 0) as h
   where not exists (select from unnest(changes) as u where u.id = h.id) -- under another spelling of the key
   order by h.id desc limit 1;
  if last.id is not null then
    raise exception 'row % of table % was changed again later', last.key, last.relation
      using errcode = 'object_not_in_prerequisite_state',
            detail = format('Change %s (%s by %s at %s) came after change %s.', last.id,
                            case last.op when 'i' then 'insert' when 'u' then 'update' else 'delete' end,
                            last.actor, last.captured_at, last.last_id),
            hint = 'Undo that change first, or correct the row by hand.';
  end if;

  select o.relation, t.change_id into last
    from (select c.relation, min(h.id) as first_id
            from unnest(changes) as h join rowrelay.capture c on c.id = h.capture group by c.relation) as o
    cross join lateral rowrelay.truncates_of(o.relation) as t
   where t.change_id > o.first_id
     and not exists (select from unnest(changes) as h where h.id = t.change_id)
   limit 1;
  if found then
    raise exception 'table % was truncated later', last.relation
      using errcode = 'object_not_in_prerequisite_state', detail = format('Change %s truncated it.', last.change_id),
            hint = 'Correct the rows by hand.';
  end if;
end
$$;
