-- Purpose:    puts a capture's triggers onto its tables: those that are missing, or all of them anew
--             Where triggers of the table have been dropped or disabled, nobody knows what was written meanwhile: then the
--             log begins anew (rowrelay.begin_log).
-- Parameters: capture; anew: their conditions have changed, so take off what is there; how long to try for the locks
-- Result:     number of triggers made, or enabled again
-- Errors:     as rowrelay.lock_tables()
create or replace function rowrelay.attach_triggers(capture rowrelay.capture, anew boolean, patience interval) returns integer
language plpgsql set standard_conforming_strings = on as $$ -- as rowrelay.filter_expression() writes
declare
  tables     regclass[] := rowrelay.captured_tables(capture);
  locked     regclass[];
  statements text[];
  statement  text;
  made       integer;
  filters    boolean; -- whether the condition of the row filter is among them
  was_cut    boolean;
begin
  -- A table that was a partition may have a trigger left from that time.
  anew := anew or exists (select from rowrelay.other_triggers(capture, tables));
  -- A partition or a child without triggers may be new, and what an older version has put on has no trigger after TRUNCATE.
  was_cut := exists (select from rowrelay.shape s where s.capture = attach_triggers.capture.id)
             and (exists (select from rowrelay.own_triggers(capture) o where not o.is_always and o.relation = any (tables))
                  or exists (select from rowrelay.wanted_triggers(capture) w
                              where w.relation = capture.relation and w.name <> '!rowrelay_truncated'
                                and not exists (select from rowrelay.own_triggers(capture) o
                                                 where o.relation = w.relation and o.name = w.name)));
  select array_agg(w.statement), array_agg(w.relation),
         bool_or(w.relation = capture.relation and w.name = '!rowrelay_insert') into statements, locked, filters
    from rowrelay.wanted_triggers(capture) w
   where anew or not exists (select from rowrelay.triggers_on(capture, tables) o where o.relation = w.relation and o.name = w.name);
  locked := locked || array(select o.relation from rowrelay.triggers_on(capture, tables) o
                             where not o.is_always and o.relation = any (tables));
  if cardinality(locked) = 0 then
    return 0;
  end if;
  -- What is done to a partitioned table is done to its partitions too.
  locked := array(select u.relation from unnest(tables) with ordinality as u(relation, position)
                   where anew or u.relation = any (locked) or (capture.relation = any (locked)) order by u.position);

  -- Everything that takes time has been done by now: from here to the commit writers of these tables wait.
  perform rowrelay.lock_tables(locked, case when anew then 'access exclusive' else 'share row exclusive' end, patience);
  if anew then
    perform rowrelay.detach_triggers(capture);
  end if;
  made := coalesce(cardinality(statements), 0);
  foreach statement in array coalesce(statements, '{}') loop
    begin
      execute statement;
    exception when feature_not_supported or grouping_error or windowing_error then
      if capture.row_filter is null then
        raise;
      end if;
      raise exception 'row filter "%" of table % looks at more than the row', capture.row_filter, capture.relation
        using errcode = 'invalid_parameter_value', detail = sqlerrm,
              hint = 'Put that into a function, and give it the row''s columns.';
    end;
  end loop;
  -- Also under session_replication_role = replica, which tools set that load data.
  for statement in
    select format('alter table %s enable always trigger %I', o.relation, o.name)
      from rowrelay.triggers_on(capture, tables) o
     where not o.is_always and o.relation = any (tables)
  loop
    execute statement;
    made := made + 1;
  end loop;
  if filters then
    update rowrelay.capture c set filter_state = rowrelay.filter_state(capture) where c.id = capture.id;
  end if;
  if was_cut then
    perform rowrelay.begin_log(capture);
    raise warning 'table % had lost triggers: what was written meanwhile is not in the log, and its log begins anew', capture.relation
      using hint = 'At a mirror, rowrelay verify TARGET --repair brings what is missing.';
  end if;
  return made;
end
$$;
