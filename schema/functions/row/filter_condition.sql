-- Purpose:    returns the row filter of a capture as a condition on a row called new, as the trigger stores it:
--             independent of search_path and of renamed columns
-- Parameters: capture
-- Result:     a condition in parentheses; null when the capture has no filter
-- Errors:     the table has lost its triggers, or another trigger has taken the place of rowrelay's
create or replace function rowrelay.filter_condition(capture rowrelay.capture) returns text
language plpgsql stable as $$
declare
  condition text;
begin
  if capture.row_filter is null then
    return null;
  end if;
  -- Only a role that may execute the trigger function can create a trigger with it. Where the owner of a partitioned
  -- table may (rowrelay.trigger_grants), the condition must be the one that rowrelay wrote.
  select '(' || substring(pg_get_triggerdef(t.oid) from E' WHEN \\((.*)\\) EXECUTE FUNCTION ') || ')' into condition
    from pg_trigger t
    join pg_proc p on p.oid = t.tgfoid
   where t.tgrelid = capture.relation and t.tgname = '!rowrelay_insert'
     and p.oid = to_regprocedure(format('rowrelay.%I()', 'capture_' || capture.id))
     and (capture.filter_state = rowrelay.filter_state(capture)
          or not exists (select from aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) as a
                         where a.grantee <> p.proowner));
  if condition is null then
    raise exception 'table % has lost its triggers', capture.relation
      using errcode = 'object_not_in_prerequisite_state',
            hint = 'Capture it again: '
                     || rowrelay.command('rowrelay capture %s', 'select rowrelay.capture_table(%L);',
                                         capture.relation::text);
  end if;
  return condition;
end
$$;
