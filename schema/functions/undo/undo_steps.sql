-- Purpose:    returns the steps that undo changes, one each, in the order of the changes. A delete and the insert right
--             after it are one step when they are one row: an update of a key, or one that moves a row to another
--             partition, is captured so.
-- Parameters: changes of one transaction
-- Result:     steps; none for what changed no row (snapshots, barriers, refreshed documents)
-- Errors:     a change of a row that its statement wrote several times; see rowrelay.check_undoable(),
--             rowrelay.check_not_shared() and rowrelay.undo_rows()
create or replace function rowrelay.undo_steps(changes rowrelay.change[]) returns rowrelay.undo_step[]
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  change    rowrelay.change;
  capture   rowrelay.capture;
  step      rowrelay.undo_step;
  last      rowrelay.undo_step;
  steps     rowrelay.undo_step[] := '{}';
  key_names text[];
begin
  -- The image before is that of one of several rows with this key that came and went in one statement.
  select c.* into change
    from unnest(changes) as c
   where c.op = 'r' and c.caveat -> 'left_out' is not null
   order by c.id limit 1;
  if found then
    select c.* into strict capture from rowrelay.capture c where c.id = change.capture;
    raise exception 'row % of table % cannot be undone: one statement wrote it several times', change.key,
      capture.relation_name
      using errcode = 'object_not_in_prerequisite_state',
            detail = 'A trigger or function wrote it too, and the log does not have the row as it was in between.',
            hint = 'Correct the row by hand; for what the log has: '
                     || rowrelay.command('rowrelay log %s',
                                         'select * from rowrelay.history where relation = %L::regclass;',
                                         capture.relation_name);
  end if;
  for change in
    select c.* from unnest(changes) as c where c.op in ('i', 'u', 'd', 't') order by c.id
  loop
    if capture.id is distinct from change.capture then
      select c.* into strict capture from rowrelay.capture c where c.id = change.capture;
      if not exists (select from pg_class r where r.oid = capture.relation) then
        raise exception 'change % cannot be undone: table % is gone', change.id, capture.relation_name
          using errcode = 'undefined_table';
      end if;
      perform rowrelay.check_numbered(capture);
      if cardinality(rowrelay.live_key(capture)) = 0
         and (capture.only_columns is not null or capture.exclude_names <> '{}' or capture.mask_names <> '{}') then
        raise exception 'change % cannot be undone: table % has no key, and not all of its columns are captured',
                        change.id, capture.relation
          using errcode = 'object_not_in_prerequisite_state',
                detail = 'Several rows may be equal in those that are captured, so nobody knows which one it changed.',
                hint = 'Correct the row by hand.';
      end if;
    end if;
    perform rowrelay.check_undoable(change, capture);
    perform rowrelay.check_not_shared(change, capture);
  end loop;

  for step in
    select s.* from rowrelay.undo_rows(changes) as s order by s.change_id
  loop
    if capture.id is distinct from step.capture then
      select c.* into strict capture from rowrelay.capture c where c.id = step.capture;
      key_names := null;
    end if;
    key_names := coalesce(key_names, rowrelay.attribute_names(capture.relation, rowrelay.live_key(capture)));
    if step.be is null and last.was is null and last.be is not null
       and rowrelay.is_same_row(capture, key_names, last, step) then
      step.first_id := last.first_id;
      step.be_key := last.be_key;
      step.be := last.be;
      steps[cardinality(steps)] := step;
    else
      steps := steps || step;
    end if;
    last := step;
  end loop;

  -- the row's previous change came before a column
  select s.* into step
    from unnest(steps) as s
   where s.be is not null and s.was - array(select jsonb_object_keys(s.be)) <> '{}'
   order by s.change_id limit 1;
  if found then
    raise exception 'the log does not have all of row % of table % as it was before change %',
      coalesce(step.be_key, step.was_key), step.relation, step.change_id
      using errcode = 'object_not_in_prerequisite_state',
            detail = (select format('The row''s previous change is older than column %s.',
                                    string_agg(quote_ident(k), ', '))
                        from jsonb_object_keys(step.was - array(select jsonb_object_keys(step.be))) as k),
            hint = 'Correct the row by hand.';
  end if;
  return steps;
end
$$;
