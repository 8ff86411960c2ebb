-- Purpose:    refuses a cursor behind which changes were dropped that it has not handed out: its reader would not know
--             that it has lost them. Called after reading, in a statement of its own, which sees what was dropped
--             meanwhile. A closed day has nothing for a cursor that sees all that its last snapshot saw; of a log that
--             is read from its beginning, only what was dropped since then is missing.
-- Parameters: the cursor's snapshots, see rowrelay.changes_since(); up to which id all is read; relations, null: all
--             that the caller may read; whether it is the beginning
-- Errors:     changes were dropped; another session drops a day just now
create or replace function rowrelay.check_log_behind(since pg_snapshot, until pg_snapshot, after bigint,
                                                     relations regclass[], begins boolean) returns void
language plpgsql stable as $$
declare
  asked integer[];
  lost  date;
begin
  if not rowrelay.sees_log() then
    raise exception 'a day of the log is being dropped' using errcode = 'serialization_failure', hint = 'Try again.';
  elsif coalesce(begins, true) or not exists (select from rowrelay.day d where d.dropped_in is not null) then
    return;
  end if;
  asked := case when relations is null then rowrelay.readable_captures()
                else array(select c.id from rowrelay.capture c where c.relation = any (relations)) end;
  select min(d.day) into lost
    from rowrelay.day d
   where d.dropped_in is not null and d.restored_at is null and d.last_id > after
     and case when d.dropped_at is null then asked operator(pg_catalog.&&) (d.gone || d.deleting)
              else d.captures is null or asked operator(pg_catalog.&&) d.captures end
     and case when since::text = '1:1:' then not pg_visible_in_snapshot(d.dropped_in, until)
              else pg_snapshot_xmax(since) < pg_snapshot_xmax(d.closed_in)
                or pg_snapshot_xmax(since) = pg_snapshot_xmax(d.closed_in)
                   and exists (select pg_snapshot_xip(since) except select pg_snapshot_xip(d.closed_in)) end;
  if lost is not null then
    raise exception 'changes behind this cursor are no longer in the log' using
      errcode = 'object_not_in_prerequisite_state',
      detail = format('Those of %s were dropped before they were read.', lost),
      hint = 'Begin again: with an empty cursor, which reads what is left, or with ''now''. Keep the log for longer: '
             || rowrelay.command('rowrelay keep %s', 'select rowrelay.keep(%L);', '90 days');
  end if;
end
$$;
