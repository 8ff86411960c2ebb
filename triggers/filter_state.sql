-- Purpose:    returns a digest of the triggers' condition for a capture with a row filter; a renamed column does not
--             change it
-- Parameters: capture
-- Result:     null when there is no filter, or no trigger
create or replace function rowrelay.filter_state(capture rowrelay.capture) returns text
language sql stable as $$
  select encode(sha256(convert_to(t.tgqual::text, getdatabaseencoding())), 'hex')
    from pg_trigger t
   where t.tgrelid = capture.relation and t.tgname = '!rowrelay_insert'
     and t.tgfoid = to_regprocedure(format('rowrelay.%I()', 'capture_' || capture.id))
$$;
