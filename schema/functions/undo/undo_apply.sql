-- Purpose:    undoes changes: locks the rows, checks again that nobody has changed them, runs each step, and verifies
--             the result
-- Parameters: changes; steps as rowrelay.undo_steps() returns them; the same in the order to run
-- Result:     the statements that were run
-- Errors:     row-level security hides rows of a table from the caller; a row is not as the log left it; a trigger or
--             default changes what is written. Nothing has changed then.
create or replace function rowrelay.undo_apply(changes rowrelay.change[], steps rowrelay.undo_step[],
                                               ordered rowrelay.undo_step[]) returns setof text
language plpgsql as $$ -- with the caller's search_path where the table's own triggers run: they may count on it
declare
  step         record;
  row_lock     text;
  obstacle     text;
  n            bigint;
  alike_before bigint[];
  own_path     constant text := current_setting('search_path');
  users_path   constant text := rowrelay.names_path();
begin
  -- the tables of the rows, and those that a foreign key would change with them
  perform rowrelay.check_sees_all(t.relation)
     from (select s.relation from unnest(steps) as s
            union
           select k.conrelid from pg_constraint k
            where k.contype = 'f' and k.confdeltype in ('c', 'n', 'd')
              and k.confrelid in (select s.relation from unnest(steps) as s)) as t;
  for row_lock in
    select format('select from %s as t where %s for update', rowrelay.full_name(a.relations[r.place]), r.by_key)
      from (select array_agg(s.capture order by s.relation::oid, s.was_key) as captures,
                   array_agg(s.was order by s.relation::oid, s.was_key) as texts,
                   array_agg(s.relation order by s.relation::oid, s.was_key) as relations
              from (select distinct on (u.relation, u.was_key) u.*
                      from unnest(steps) as u where u.was_key is not null) as s) as a
     cross join rowrelay.row_conditions(a.captures, a.texts) as r
     where r.by_key <> ''
     order by r.place
  loop
    execute row_lock;
  end loop;
  perform rowrelay.check_not_changed_since(changes);

  alike_before := array(select a.n from rowrelay.rows_alike(steps) as a order by a.place);
  if rowrelay.undo_defers(steps) then
    set constraints all deferred;
    return next 'set constraints all deferred';
  end if;
  for step in
    select s.*, w.statement
      from unnest(ordered) with ordinality as s(change_id, first_id, capture, relation, was_key, be_key, was, be, place)
      join rowrelay.undo_statements(ordered) as w using (place)
     where w.statement is not null
     order by place
  loop
    perform set_config('search_path', users_path, true);
    execute step.statement;
    get diagnostics n = row_count;
    perform pg_catalog.set_config('search_path', own_path, true);
    if n <> 1 then
      obstacle := coalesce(rowrelay.undo_obstacle(step.capture, coalesce(step.was, step.be), step.was),
                           'Rows of other tables refer to it and would be deleted with it');
      raise exception 'row % of table % is not as change % left it',
        coalesce(step.was_key, step.be_key, 'without a key'), step.relation, step.change_id
        using errcode = 'object_not_in_prerequisite_state', detail = obstacle || '. Nothing was undone.',
              hint = format('Correct the row by hand; without %s you get the statements.',
                            rowrelay.command('--apply', 'apply'));
    end if;
    return next step.statement;
  end loop;
  if rowrelay.undo_defers(steps) then
    perform set_config('search_path', users_path, true);
    set constraints all immediate;
    perform pg_catalog.set_config('search_path', own_path, true);
  end if;
  perform rowrelay.check_undone(steps, alike_before);
end
$$;
