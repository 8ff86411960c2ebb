-- Purpose:    whether a table has triggers by which it is captured by statement, although it is captured by row
-- Parameters: capture; its tables
create or replace function rowrelay.has_surplus_triggers(capture rowrelay.capture, tables regclass[]) returns boolean
language plpgsql stable as $$
begin
  return not rowrelay.is_by_statement(capture)
     and exists (select from rowrelay.triggers_on(capture, tables) o
                  where o.name = any ('{!rowrelay_inserted,!rowrelay_updated,!rowrelay_deleted,!rowrelay_alone}'));
end
$$;
