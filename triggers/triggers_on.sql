-- Purpose:    lists the triggers of a capture on some tables
-- Parameters: capture; tables, null: any table, which reads all triggers of the database
-- Result:     table; trigger's name; its state, as in pg_trigger; whether it is a partition's copy, which is dropped
--             with its parent's
create or replace function rowrelay.triggers_on(capture rowrelay.capture, tables regclass[], out relation regclass,
                                                out name text,
                                                out state "char", out is_copy boolean) returns setof record
language plpgsql stable as $$ -- rather than SQL, so that the functions' oids are looked up once
declare
  row_function      constant oid := to_regprocedure(format('rowrelay.%I()', 'capture_' || capture.id));
  truncate_function constant oid := to_regprocedure('rowrelay.capture_truncate()');
  truncate_argument constant bytea := convert_to(capture.id::text, 'UTF8') || E'\\x00'::bytea;
  -- of a table that is captured by statement
  statement_function constant oid := to_regprocedure(format('rowrelay.%I()', rowrelay.statement_name(capture.id)));
  alone_function    constant oid := to_regprocedure('rowrelay.stand_alone()');
  triggers          oid[];
begin
  if tables is null then
    triggers := array(select t.oid from pg_trigger t
                    where t.tgfoid in (row_function, statement_function)
                       or t.tgfoid in (truncate_function, alone_function) and t.tgargs = truncate_argument);
  else
    -- one table at a time, or the planner reads all triggers when there are a few tables
    triggers := array(select t.oid
                     from unnest(tables) as m(relation)
                    cross join lateral (
                      select t.oid from pg_trigger t
                       where t.tgrelid = m.relation
                         and (t.tgfoid in (row_function, statement_function)
                              or t.tgfoid in (truncate_function, alone_function) and t.tgargs = truncate_argument)
                      offset 0) as t);
  end if;
  return query
    select t.tgrelid::regclass, t.tgname::text, t.tgenabled,
           exists (select from pg_depend d
                    where d.classid = 'pg_trigger'::regclass and d.objid = t.oid
                      and d.refclassid = 'pg_trigger'::regclass)
      from unnest(triggers) as f(oid)
     cross join lateral (select * from pg_trigger t where t.oid = f.oid offset 0) as t;
end
$$;
