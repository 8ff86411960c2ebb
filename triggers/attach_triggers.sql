-- Purpose:    puts a capture's triggers onto its tables: those that are missing, or all of them anew
-- Parameters: capture; anew: their conditions have changed, so take off what is there; how long to try for the locks
-- Result:     number of triggers made
-- Errors:     as rowrelay.lock_tables()
create or replace function rowrelay.attach_triggers(capture rowrelay.capture, anew boolean, patience interval) returns integer
language plpgsql as $$
declare
  statements text[];
  statement  text;
begin
  select array_agg(w.statement) into statements
    from rowrelay.wanted_triggers(capture) w
   where anew or not exists (select from pg_trigger t where t.tgrelid = w.relation and t.tgname = w.name);
  if statements is null then
    return 0;
  end if;

  -- Everything that takes time has been done by now: from here to the commit writers of these tables wait.
  perform rowrelay.lock_tables(
    rowrelay.captured_tables(capture),
    case when anew then 'access exclusive' else 'share row exclusive' end, patience);
  if anew then
    perform rowrelay.detach_triggers(capture);
  end if;
  foreach statement in array statements loop
    execute statement;
  end loop;
  -- Also under session_replication_role = replica, which tools set that load data.
  for statement in
    select format('alter table %s enable always trigger %I', t.tgrelid::regclass, t.tgname)
      from pg_trigger t
     where t.tgrelid = any (rowrelay.captured_tables(capture)) and t.tgname like '!rowrelay%'
  loop
    execute statement;
  end loop;
  return cardinality(statements);
end
$$;
