-- Purpose:    regular maintenance, at once; a run that is under way is waited for. Running processes call
--             rowrelay.maintain_when_due(). A task that fails does not stop the others. What changes captures or the
--             queue is left to the next run while a transaction changes captures or targets.
-- Result:     one text for each thing done and for each failure. A failure is reported once, and again when its reason
--             changes or after it had worked. No row: nothing to do.
create or replace function rowrelay.maintain() returns setof text
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  -- tables in one call, chosen at random: they stay locked until it ends, and some may fail each time
  most constant integer := 500;
  n        bigint;
  newcomers regclass[];
  before   constant text := current_setting('lock_timeout');
  patience interval := '1 s';
  again    text; -- partitions and children that were taken away and put back
  capture  rowrelay.capture;
  dropped  integer;
  problems text[] := '{}';
  lacking  record;
  busy     integer[] := '{}';
  was_native boolean;
  -- whether nobody else changes captures or targets until this transaction ends
  may_change boolean;
begin
  -- waits for another run, and puts off the next one of a process
  perform rowrelay.take_job('maintain', '30 s');
  -- Locks of tables are kept until this transaction ends, and writers of one table must not wait for another.
  perform set_config('lock_timeout', '100ms', true);

  begin
    n := rowrelay.maintain_partitions();
    if n > 0 then
      return next format('created %s of rowrelay.change', case n when 1 then '1 partition' else n || ' partitions' end);
    end if;
  exception
    when lock_not_available then
      null; -- there are partitions for days ahead, and the next run is soon
    when others then
      problems := problems || format('partitions of rowrelay.change could not be created: %s', sqlerrm);
  end;

  begin
    perform rowrelay.close_days();
  exception when others then
    problems := problems || format('days of the log could not be closed: %s', sqlerrm);
  end;

  may_change := rowrelay.try_lock_configuration();
  if not may_change then
    return next 'another transaction is changing captures or targets: what is captured was left to the next run';
  end if;

  begin
    n := case when may_change then rowrelay.free_blocked() end;
    if n > 0 then
      return next format('%s queued again', case n when 1
                         then '1 change that waited behind a refused one that is gone was'
                         else n || ' changes that waited behind refused ones that are gone were' end);
    end if;
  exception when others then
    problems := problems || format('changes that wait behind nothing could not be queued again: %s', sqlerrm);
  end;

  -- before functions are replaced: one that knows of no children would take a former child's rows for the table's
  begin
    for lacking in
      select l.* from rowrelay.lacking_triggers() as l where may_change and l.left_over is not null
       order by random() limit most
    loop
      begin
        select c.* into capture from rowrelay.capture c where c.id = lacking.capture for update skip locked;
        if found then
          perform rowrelay.drop_left_over(capture, lacking.left_over, '0 s');
          patience := '0 s'; -- nobody can read those tables until this transaction ends
          return next format('table %s: triggers dropped from tables that no longer belong to it: %s', capture.relation,
                             array_to_string(lacking.left_over, ', '));
        end if;
      exception when others then
        busy := busy || lacking.capture;
        problems := problems || format('table %s: its triggers could not be dropped from tables that no longer '
                                       'belong to it (%s): %s', capture.relation,
                                       array_to_string(lacking.left_over, ', '), sqlerrm);
      end;
    end loop;
  exception when others then
    problems := problems || format('triggers of tables that no longer belong to another could not be found: %s',
                                   sqlerrm);
  end;

  begin
    for capture in
      select c.* from rowrelay.capture c
       where may_change and c.id <> all (busy) and c.id = any (array(select k.id
                                 from rowrelay.column_states(array(select a.id from rowrelay.capture a
                                                                   where a.released_at is null)) as s
                                 join rowrelay.capture k on k.id = s.capture
                                where k.column_state is distinct from s.state
                                order by random() limit most))
         for update skip locked
    loop
      begin
        -- Captures and targets of earlier rounds are locked still. So it waits for nobody who has locked a target,
        -- who may wait for those.
        perform from rowrelay.target t
          where t.id in (select r.target from rowrelay.route r where r.capture = capture.id and r.until_id is null)
            for no key update nowait;
        was_native := rowrelay.is_native(capture.id);
        perform rowrelay.make_trigger_function(capture.id, patience);
        return next case
          when rowrelay.is_native(capture.id) = was_native then
            format('table %s was altered: trigger function replaced', capture.relation)
          when was_native then
            format('table %s is captured by PL/pgSQL now', capture.relation)
              || coalesce((select ': ' || o.obstacle from rowrelay.native_obstacle() as o), '')
          else format('table %s is captured by rowrelay_native now', capture.relation) end;
      exception
        when lock_not_available then
          null; -- until it can be, changes are captured the slow way
        when others then
          problems := problems || format('table %s was altered, and its trigger function could not be replaced: %s',
                                         capture.relation, sqlerrm);
      end;
    end loop;
  exception when others then
    problems := problems || format('tables that were altered could not be found: %s', sqlerrm);
  end;

  begin
    if may_change then
      perform rowrelay.note_new_files();
    end if;
  exception when others then
    problems := problems || format('files of tables could not be looked at: %s', sqlerrm);
  end;

  begin
    if may_change then
      return query
        select format('table %s: a type of its columns was altered, and what that did to rows is not in its log: %s',
                      c.relation, rowrelay.verify_commands(c.relation, true))
          from rowrelay.note_type_parts() as n(id) join rowrelay.capture c on c.id = n.id;
    end if;
  exception when others then
    problems := problems || format('types of columns could not be looked at: %s', sqlerrm);
  end;

  begin
    for capture in
      select c.* from rowrelay.capture c join pg_class r on r.oid = c.relation
       where may_change and c.released_at is null and r.relhassubclass
       order by c.id
    loop
      again := rowrelay.note_part_links(capture);
      if again is not null then
        perform rowrelay.note_gap(capture.id);
        return next format('table %s: what was written to %s while it did not belong to it is not in the log: %s',
                           capture.relation, again, rowrelay.verify_commands(capture.relation, true));
      end if;
    end loop;
  exception when others then
    problems := problems || format('partitions and children could not be looked at: %s', sqlerrm);
  end;

  -- new partitions and inheritance children
  begin
    for capture in
      select c.* from rowrelay.capture c
       where may_change
         and c.id = any (array(select l.capture from rowrelay.lacking_triggers() as l
                                where l.for_rows or l.for_truncates order by random() limit most))
         for update skip locked
    loop
      -- until its function knows of children, it would capture their own columns
      continue when rowrelay.has_children(capture.relation)
                and capture.column_state is distinct from rowrelay.column_state(capture);
      begin
        -- fails for a child that is captured by itself, and for a table that has become one that cannot be captured
        perform rowrelay.check_capturable(capture.relation);
        newcomers := rowrelay.new_parts(capture);
        n := rowrelay.attach_triggers(capture, false, '0 s');
        return next format('table %s: %s attached', capture.relation,
                           case n when 1 then '1 trigger' else n || ' triggers' end)
          || coalesce((select '; some had been dropped or disabled, and changes made meanwhile are not in its log: '
                              'rowrelay verify TARGET --repair copies those rows to a mirror'
                         from rowrelay.capture c where c.id = capture.id and c.log_since > capture.log_since), '')
          || coalesce('; ' || rowrelay.unseen_parts(newcomers) || ': '
                      || rowrelay.verify_commands(capture.relation, true), '');
      exception when others then
        problems := problems || format('table %s: triggers are missing, and could not be attached: %s',
                                     capture.relation, sqlerrm);
      end;
    end loop;
  exception when others then
    problems := problems || format('tables that lack triggers could not be found: %s', sqlerrm);
  end;

  begin
    -- what a writer added, or a process released, while the target was being dropped; a transaction may be open, or
    -- prepared, for any time
    for dropped in select t.id from rowrelay.target t where t.dropped_at is not null loop
      delete from rowrelay.queue q
       where q.ctid = any (array(select u.ctid from rowrelay.queue u
                                  where u.lane between rowrelay.lane_number(dropped, -1)
                                    and rowrelay.lane_number(dropped, 1023)
                                  limit 10000 for update skip locked));
    end loop;
    -- what a writer added while the copy of its table was cancelled; in one statement, because it may begin anew
    delete from rowrelay.queue q
     using rowrelay.backfill b
     where b.state = 'cancelled'
       and q.lane between rowrelay.waiting_lane(b.id, -1) and rowrelay.waiting_lane(b.id, 1023);
  exception when others then
    problems := problems || format('leftover rows of the queue could not be deleted: %s', sqlerrm);
  end;

  -- Trigger functions of dropped tables: roles that may execute one (rowrelay.trigger_grants) cannot be dropped.
  begin
    for capture in
      select c.* from rowrelay.capture c
       where may_change and c.released_at is null
         and to_regprocedure(format('rowrelay.%I()', 'capture_' || c.id)) is not null
         and not exists (select from pg_class r where r.oid = c.relation)
         for update skip locked
    loop
      execute (select string_agg(format('drop function %s', m.made), '; ')
                 from rowrelay.made_functions(capture.id) as m);
      return next format('table %s was dropped: trigger function dropped', capture.relation_name);
    end loop;
  exception when others then
    problems := problems || format('trigger functions of dropped tables could not be dropped: %s', sqlerrm);
  end;

  begin
    if may_change then
      perform rowrelay.bound_log_since();
    end if;
  exception when others then
    problems := problems || format('where the log of tables begins could not be corrected: %s', sqlerrm);
  end;

  begin
    delete from rowrelay.follower f where f.txid < pg_snapshot_xmin(pg_current_snapshot());
  exception when others then
    problems := problems
      || format('row versions of ended transactions (rowrelay.follower) could not be deleted: %s', sqlerrm);
  end;

  begin
    -- Leases taken while the clock was ahead end as if they had been taken now.
    update rowrelay.lease e set lease_until = clock_timestamp() + e.lasts
     where e.lease_until > clock_timestamp() + e.lasts;
    -- lanes of targets that are gone
    delete from rowrelay.lane l
     where l.lane in (select k.lane from rowrelay.lane k join rowrelay.target t on t.id = rowrelay.lane_target(k.lane)
                       where t.dropped_at is not null for update of k skip locked);
  exception when others then
    problems := problems || format('lanes and leases could not be cleaned up: %s', sqlerrm);
  end;

  begin
    delete from rowrelay.instance i where i.heartbeat_at not between now() - interval '1 day'
      and now() + interval '1 day';
  exception when others then
    problems := problems || format('processes that are gone could not be removed: %s', sqlerrm);
  end;

  perform set_config('lock_timeout', before, true);
  return query
    select f from unnest(problems) as f
     where f <> all (array(select unnest(j.failed) from rowrelay.job j where j.name = 'maintain'));
  update rowrelay.job j set failed = problems
   where j.name = 'maintain' and j.failed is distinct from problems;
end
$$;
