-- Purpose:    undoes changes: locks the rows, checks again that nobody has changed them, runs each step, and verifies
--             the result
-- Parameters: changes; steps as rowrelay.undo_steps() returns them; the same in the order to run
-- Result:     the statements that were run
-- Errors:     row-level security hides rows of a table from the caller; a row is not as the log left it; a trigger or
--             default changes what is written. Nothing has changed then.
create or replace function rowrelay.undo_apply(changes rowrelay.change[], steps rowrelay.undo_step[],
                                               ordered rowrelay.undo_step[]) returns setof text
language plpgsql as $$ -- with the caller's search_path: the table's own triggers may count on it
declare
  step      rowrelay.undo_step;
  statement text;
  obstacle  text;
  n         bigint;
begin
  -- the tables of the rows, and those that a foreign key would change with them
  perform rowrelay.check_sees_all(t.relation)
     from (select s.relation from unnest(steps) as s
            union
           select k.conrelid from pg_constraint k
            where k.contype = 'f' and k.confdeltype in ('c', 'n', 'd')
              and k.confrelid in (select s.relation from unnest(steps) as s)) as t;
  for statement in
    select distinct on (s.relation::oid, s.was_key)
           format('select from %s as t where %s for update', rowrelay.full_name(s.relation),
                  rowrelay.row_condition(c, s.was, 't', key_only => true))
      from unnest(steps) as s join rowrelay.capture c on c.id = s.capture
     where s.was_key is not null
     order by s.relation::oid, s.was_key
  loop
    execute statement;
  end loop;
  perform rowrelay.check_not_changed_since(changes);

  if rowrelay.undo_defers(steps) then
    set constraints all deferred;
    return next 'set constraints all deferred';
  end if;
  foreach step in array ordered loop
    statement := rowrelay.undo_statement(step);
    continue when statement is null;
    execute statement;
    get diagnostics n = row_count;
    if n <> 1 then
      obstacle := coalesce(rowrelay.undo_obstacle(step.capture, coalesce(step.was, step.be), step.was),
                           'Rows of other tables refer to it and would be deleted with it');
      raise exception 'row % of table % is not as change % left it', coalesce(step.was_key, step.be_key),
        step.relation, step.change_id
        using errcode = 'object_not_in_prerequisite_state', detail = obstacle || '. Nothing was undone.',
              hint = format('Correct the row by hand; without %s you get the statements.',
                            rowrelay.command('--apply', 'apply'));
    end if;
    return next statement;
  end loop;
  if rowrelay.undo_defers(steps) then
    set constraints all immediate;
  end if;
  perform rowrelay.check_undone(steps);
end
$$;
