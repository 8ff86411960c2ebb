-- Purpose:    creates a capture's triggers on its tables: those that are missing, or all of them again. If triggers of
--             the table were dropped or disabled, changes made meanwhile are unknown, and its log starts again
--             (rowrelay.begin_log). So it does if an event trigger wrote to them while they had none. It notes
--             what targets lack where new partitions or children may have been written to before, and warns of them.
-- Parameters: capture; is_new: drop the existing triggers first, because its row filter is another one; how long to
--             try for the locks
-- Result:     number of triggers created or enabled again
-- Errors:     as for rowrelay.lock_tables()
create or replace function rowrelay.attach_triggers(capture rowrelay.capture, is_new boolean, patience interval)
  returns integer
language plpgsql set standard_conforming_strings = on as $$ -- as rowrelay.filter_expression() writes
declare
  anew       boolean;
  tables     regclass[] := rowrelay.captured_tables(capture);
  locked     regclass[];
  statements text[];
  statement  text;
  made       integer;
  filters    boolean; -- whether the condition of the row filter is among them
  was_cut    boolean;
  written    bigint;
  newcomers  regclass[] := rowrelay.new_parts(capture);
  unseen     text;
begin
  -- A table that was a partition may have a trigger left from that time; one that was captured by statement, too.
  anew := is_new or exists (select from rowrelay.other_triggers(capture, tables))
          or rowrelay.has_surplus_triggers(capture, tables);
  was_cut := rowrelay.has_lost_triggers(capture, tables);
  select array_agg(w.statement), array_agg(w.relation),
         bool_or(w.relation = capture.relation and w.name = '!rowrelay_insert') into statements, locked, filters
    from rowrelay.triggers_to_create(capture, tables, anew, is_new) w;
  locked := locked || array(select t.relation from rowrelay.triggers_to_set(capture, tables) t);
  if cardinality(locked) = 0 then
    return 0;
  end if;
  -- DDL on a partitioned table applies to its partitions too.
  locked := array(select u.relation from unnest(tables) with ordinality as u(relation, position)
                   where anew or u.relation = any (locked) or (capture.relation = any (locked)) order by u.position);

  -- All that takes time is done: from here to the commit writers of these tables wait.
  perform rowrelay.lock_tables(locked, case when anew then 'access exclusive' else 'share row exclusive' end, patience);
  written := rowrelay.rows_written(tables);
  if anew then
    perform rowrelay.detach_triggers(capture);
  end if;
  made := coalesce(cardinality(statements), 0);
  unseen := rowrelay.unseen_parts(newcomers);
  foreach statement in array coalesce(statements, '{}') loop
    begin
      execute statement;
    exception when feature_not_supported or grouping_error or windowing_error then
      if capture.row_filter is null then
        raise;
      end if;
      raise exception 'row filter "%" of table % uses more than the row', capture.row_filter, capture.relation
        using errcode = 'invalid_parameter_value', detail = sqlerrm,
              hint = 'Move it into a function, and pass the row''s columns to it.';
    end;
  end loop;
  for statement in select t.statement from rowrelay.triggers_to_set(capture, tables) t loop
    execute statement;
    made := made + 1;
  end loop;
  was_cut := was_cut or rowrelay.rows_written(tables) <> written;
  if filters then
    update rowrelay.capture c set filter_state = rowrelay.filter_state(capture) where c.id = capture.id;
  end if;
  if was_cut then
    -- not of one that is captured for the first time
    perform rowrelay.note_gap(capture.id) where exists (select from rowrelay.shape s where s.capture = capture.id);
    perform rowrelay.begin_log(capture);
    raise warning 'table % had lost triggers: changes made meanwhile are not in the log, which starts again now',
      capture.relation
      using hint = 'To repair a mirror: ' || rowrelay.verify_commands(capture.relation, true);
  end if;
  if unseen is not null then
    perform rowrelay.note_gap(capture.id);
    raise warning '%', unseen
      using hint = 'To repair a mirror: ' || rowrelay.verify_commands(capture.relation, true);
  end if;
  return made;
end
$$;
