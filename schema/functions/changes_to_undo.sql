-- Purpose:    what the log has of one row: the changes of a table with this key, whichever of its captures saw them
-- Parameters: relation; key as text (null: changes without one are told apart by their ids)
-- Result:     changes in no order
create or replace function rowrelay.changes_to_undo(relation regclass, key text) returns setof rowrelay.change
language sql stable as $$
  select h.*
    from rowrelay.change h
    join rowrelay.capture c on c.id = h.capture
   where c.relation = changes_to_undo.relation and h.key = changes_to_undo.key
$$;
