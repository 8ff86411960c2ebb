-- Purpose:    whether triggers of a captured table were dropped or disabled, so that changes made meanwhile are unknown
-- Parameters: capture, with a log; its tables
-- Result:     false for a new partition or child without triggers, for triggers that only newer versions create, and
--             while the table changes between capture by row and by statement, or gets or loses a row filter
create or replace function rowrelay.has_lost_triggers(capture rowrelay.capture, tables regclass[]) returns boolean
language plpgsql stable as $$
declare
  events  constant text[] := '{!rowrelay_inserted,!rowrelay_updated,!rowrelay_deleted}';
  present constant text[] := array(select o.name from rowrelay.triggers_on(capture, array[capture.relation]) o);
  was_by_statement constant boolean := present && events;
begin
  return exists (select from rowrelay.shape s where s.capture = has_lost_triggers.capture.id)
     and (exists (select from rowrelay.triggers_on(capture, tables) o
                   where o.relation = any (tables) and o.name <> '!rowrelay_alone'
                     and case when o.name = any (events) then o.state not in ('O', 'A')
                              when o.name = '!rowrelay' and was_by_statement then o.state = 'D'
                              else o.state <> 'A' end)
          or '!rowrelay_truncate' <> all (present)
          or was_by_statement and not present @> events
          or '!rowrelay' <> all (present)
             and not present @> '{!rowrelay_insert,!rowrelay_delete,!rowrelay_update,!rowrelay_update_in,'
                                '!rowrelay_update_out}');
end
$$;
