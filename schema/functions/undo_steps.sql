-- Purpose:    what it takes to undo changes, one step each, in their order. A delete and the insert right after it are one
--             step when they are one row: that is how an update of a key is captured, or one that moves a row to another
--             partition.
-- Parameters: changes of one transaction
-- Result:     steps; without what happened to no row (snapshots, barriers, refreshed documents)
-- Errors:     a change that cannot be undone: a truncate, one that could not be captured, one without the images it takes
create or replace function rowrelay.undo_steps(changes rowrelay.change[]) returns rowrelay.undo_step[]
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  pair    record;
  change  rowrelay.change;
  capture rowrelay.capture;
  step    rowrelay.undo_step;
  last    rowrelay.undo_step;
  steps   rowrelay.undo_step[] := '{}';
begin
  for pair in
    select c as change, case when c.key is not null then lag(c) over (partition by c.capture, c.key order by c.id) end as previous
      from unnest(changes) as c where c.op in ('i', 'u', 'd', 't') order by c.id
  loop
    change := pair.change;
    if capture.id is distinct from change.capture then
      select c.* into strict capture from rowrelay.capture c where c.id = change.capture;
      if not exists (select from pg_class r where r.oid = capture.relation) then
        raise exception 'change % cannot be undone: table % is gone', change.id, capture.relation_name
          using errcode = 'undefined_table';
      end if;
    end if;
    if change.op = 't' then
      raise exception 'change % cannot be undone: it truncated table %', change.id, capture.relation
        using errcode = 'object_not_in_prerequisite_state',
              hint = format('The rows are in the log: insert into %s select * from rowrelay.as_of(null::%s, time before).',
                            capture.relation, capture.relation);
    elsif change.caveat -> 'problem' is not null or change.op <> 'd' and change.new_row is null then
      raise exception 'change % of table % cannot be undone: it could not be captured', change.id, capture.relation
        using errcode = 'object_not_in_prerequisite_state', detail = change.caveat ->> 'problem';
    end if;
    perform rowrelay.check_not_redacted(change, capture);

    step := row(change.id, change.id, change.capture, capture.relation, null, null, null, null);
    if change.op <> 'd' then
      step.was_key := change.key;
      step.was := rowrelay.row_texts(capture, change, change.new_row);
    end if;
    if change.op <> 'i' then
      step.be_key := change.key;
      step.be := rowrelay.row_before(change, capture, pair.previous);
    end if;
    if change.op = 'i' and last.was is null and last.be is not null and rowrelay.is_same_row(capture, last, step) then
      step.first_id := last.first_id;
      step.be_key := last.be_key;
      step.be := last.be;
      steps[cardinality(steps)] := step;
    else
      steps := steps || step;
    end if;
    last := step;
  end loop;
  return steps;
end
$$;
