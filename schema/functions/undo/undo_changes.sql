-- Purpose:    returns the statements that undo changes, or runs them
-- Parameters: changes, each the last of its row; apply: run the statements
-- Result:     the statements, to be run in this order in one transaction
create or replace function rowrelay.undo_changes(changes rowrelay.change[], apply boolean) returns setof text
language plpgsql as $$
declare
  steps   rowrelay.undo_step[];
  ordered rowrelay.undo_step[];
begin
  perform rowrelay.check_not_changed_since(changes);
  steps := rowrelay.undo_steps(changes);
  if cardinality(steps) = 0 then
    return;
  end if;
  perform rowrelay.tell_not_undone(steps);
  ordered := rowrelay.undo_order(steps);
  if apply then
    return query select rowrelay.undo_apply(changes, steps, ordered);
  else
    return query
      select 'set constraints all deferred' where rowrelay.undo_defers(steps)
      union all
      (select s.statement from rowrelay.undo_statements(ordered) as s where s.statement is not null order by s.place);
  end if;
end
$$;
