-- Purpose:    that nobody has changed rows since
-- Parameters: changes that are to be undone, and that are each the last of their row
-- Errors:     a later change of one of the rows is in the log, or a truncate of its table
create or replace function rowrelay.check_not_changed_since(changes rowrelay.change[]) returns void
language plpgsql stable as $$
declare
  -- looking a row up takes about as long as reading that many changes
  lookup  constant bigint := 2000;
  rows    text[]; -- [[relation, key, last id]]
  is_scan boolean;
  last    record;
begin
  select array_agg(array[r.relation::oid::text, r.key, r.last_id::text]) into rows
    from (select c.relation, h.key, max(h.id) as last_id
            from unnest(changes) as h join rowrelay.capture c on c.id = h.capture
           where h.op in ('i', 'u', 'd') and h.key is not null
           group by c.relation, h.key) as r;
  -- of the ids since then, rowrelay.skip_lost_ids() may have skipped most; there are no more changes than were ever captured
  is_scan := (select least(rowrelay.last_change_id() - min(rows[n][3]::bigint), min(s.captured)) < lookup * count(*)
                from generate_subscripts(rows, 1) as n, (select rowrelay.last_change_id() - o.ids_skipped from rowrelay.source o) as s(captured));
  if is_scan then
    with ours as materialized (
      select rows[n][1]::oid::regclass as relation, rows[n][2] as key, rows[n][3]::bigint as last_id
        from generate_subscripts(rows, 1) as n
    )
    select o.relation, o.key, o.last_id, h.id, h.op, coalesce(h.actor, h.db_user) as actor, h.captured_at into last
      from ours o
      join rowrelay.capture c on c.relation = o.relation
      join rowrelay.readable_change h on h.capture = c.id and h.key = o.key and h.id > o.last_id
     where h.id > (select min(f.last_id) from ours f) and h.op in ('i', 'u', 'd')
     order by h.id desc limit 1;
  else
    with ours as materialized (
      select rows[n][1]::oid::regclass as relation, rows[n][2] as key, rows[n][3]::bigint as last_id
        from generate_subscripts(rows, 1) as n
    )
    select o.relation, o.key, o.last_id, h.id, h.op, coalesce(h.actor, h.db_user) as actor, h.captured_at into last
      from ours o
      cross join lateral rowrelay.changes_to_undo(o.relation, o.key) as h
     where h.id > o.last_id and h.op in ('i', 'u', 'd')
     order by h.id desc limit 1;
  end if;
  if last.id is not null then
    raise exception 'row % of table % was changed again since', last.key, last.relation
      using errcode = 'object_not_in_prerequisite_state',
            detail = format('Change %s (%s by %s at %s) came after change %s.', last.id,
                            case last.op when 'i' then 'insert' when 'u' then 'update' else 'delete' end,
                            last.actor, last.captured_at, last.last_id),
            hint = 'Undo that one first, or set the row right by hand.';
  end if;

  select o.relation, t.change_id into last
    from (select c.relation, min(h.id) as first_id
            from unnest(changes) as h join rowrelay.capture c on c.id = h.capture group by c.relation) as o
    cross join lateral rowrelay.truncates_of(o.relation) as t
   where t.change_id > o.first_id
     and not exists (select from unnest(changes) as h where h.id = t.change_id)
   limit 1;
  if found then
    raise exception 'table % was truncated since', last.relation
      using errcode = 'object_not_in_prerequisite_state', detail = format('Change %s did it.', last.change_id),
            hint = 'Set the rows right by hand.';
  end if;
end
$$;
