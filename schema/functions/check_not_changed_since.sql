-- Purpose:    that nobody has changed rows since
-- Parameters: changes that are to be undone, and that are each the last of their row
-- Errors:     a later change of one of the rows is in the log, or a truncate of its table
create or replace function rowrelay.check_not_changed_since(changes rowrelay.change[]) returns void
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  ours    record;
  between rowrelay.change;
begin
  for ours in
    select c.relation, h.key, max(h.id) as last_id
      from unnest(changes) as h join rowrelay.capture c on c.id = h.capture
     where h.op in ('i', 'u', 'd') and h.key is not null
     group by c.relation, h.key
  loop
    select h.* into between
      from rowrelay.changes_to_undo(ours.relation, ours.key) h
     where h.id > ours.last_id and h.op in ('i', 'u', 'd') order by h.id desc limit 1;
    if found then
      raise exception 'row % of table % was changed again since', ours.key, ours.relation
        using errcode = 'object_not_in_prerequisite_state',
              detail = format('Change %s (%s by %s at %s) came after change %s.', between.id,
                              case between.op when 'i' then 'insert' when 'u' then 'update' else 'delete' end,
                              between.actor, between.captured_at, ours.last_id),
              hint = 'Undo that one first, or set the row right by hand.';
    end if;
  end loop;

  select h.* into between
    from unnest(changes) as u
    join rowrelay.capture c on c.id = u.capture
    join rowrelay.capture same on same.relation = c.relation
    join rowrelay.change h on h.capture = same.id and h.op = 't' and h.id > u.id
   order by h.id desc limit 1;
  if found then
    raise exception 'table % was truncated since', (select c.relation from rowrelay.capture c where c.id = between.capture)
      using errcode = 'object_not_in_prerequisite_state',
            detail = format('Change %s (by %s at %s) did it.', between.id, between.actor, between.captured_at),
            hint = 'Set the rows right by hand.';
  end if;
end
$$;
