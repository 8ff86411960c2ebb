-- Purpose:    the triggers of a capture, wherever they are: a partition that was detached still has the one for TRUNCATE
-- Parameters: capture
-- Result:     table; trigger's name; whether it fires always; whether it is a partition's copy, which goes with its
--             parent's
create or replace function rowrelay.own_triggers(capture rowrelay.capture, out relation regclass, out name text,
                                                 out is_always boolean, out is_copy boolean) returns setof record
language sql stable as $$
  select t.tgrelid::regclass, t.tgname::text, t.tgenabled = 'A',
         exists (select from pg_depend d
                  where d.classid = 'pg_trigger'::regclass and d.objid = t.oid and d.refclassid = 'pg_trigger'::regclass)
    from pg_trigger t
   where t.tgfoid = to_regprocedure(format('rowrelay.%I()', 'capture_' || capture.id))
      or t.tgfoid = to_regprocedure('rowrelay.capture_truncate()')
         and t.tgargs = convert_to(capture.id::text, 'UTF8') || E'\\x00'::bytea
$$;
