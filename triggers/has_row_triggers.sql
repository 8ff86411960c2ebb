-- Purpose:    whether the tables of a capture have AFTER row triggers of their own. Such a trigger may change a row of the
--             statement that fired it, before our trigger has been told what the statement did to that row.
-- Parameters: capture
-- Result:     true if there is one that is not ours
create or replace function rowrelay.has_row_triggers(capture rowrelay.capture) returns boolean
language sql stable as $$
  select exists (select from pg_trigger t
                  where t.tgrelid = any (rowrelay.captured_tables(capture))
                    and not t.tgisinternal and t.tgname not like '!rowrelay%'
                    and t.tgtype & 67 = 1) -- for each row (1), neither before (2) nor instead of (64)
$$;
