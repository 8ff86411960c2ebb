-- Purpose:    returns the triggers that a capture needs: on the table, on its inheritance children, and for TRUNCATE on
--             every partition, because PostgreSQL does not create that one for partitions. Their names begin with ! so
--             that they fire before the table's own triggers, which may change the row again: an earlier write must be
--             captured first.
-- Parameters: capture; is_new: whether its row filter is another one than that of the triggers that there are. Else
--             their condition is taken: the capture's text may name columns that were renamed since.
-- Result:     table; trigger name; CREATE TRIGGER statement; state: A: always enabled; O: as usual; R: only under
--             session_replication_role = replica; D: never, see rowrelay.stand_alone()
create or replace function rowrelay.wanted_triggers(capture rowrelay.capture, is_new boolean, out relation regclass,
                                                    out name text, out statement text, out state "char")
returns setof record
language plpgsql as $$
declare
  old_passes text;
  new_passes text;
  by_statement constant boolean := rowrelay.is_by_statement(capture);
  has_parts  boolean := (select c.relkind = 'p' from pg_class c where c.oid = capture.relation);
begin
  if not is_new and rowrelay.filter_state(capture) is not null then
    begin
      new_passes := rowrelay.filter_condition(capture);
      old_passes := rowrelay.condition_on_old(new_passes);
    exception when object_not_in_prerequisite_state then
      null; -- another trigger has taken the place of rowrelay's
    end;
  end if;
  if capture.row_filter is not null and new_passes is null then
    new_passes := coalesce(capture.resolved_filter,
                           rowrelay.filter_expression(capture.relation, capture.row_filter, 'new', 'pg_catalog'));
    old_passes := rowrelay.condition_on_old(new_passes);
  end if;
  return query
    with recursive member(relation) as (
      select capture.relation::oid
      union
      select i.inhrelid from member m join pg_inherits i on i.inhparent = m.relation
    ), row_trigger(name, event, condition, argument) as (
      select '!rowrelay', 'insert or update or delete', null, null where capture.row_filter is null
      union all
      select v.* from (values
        ('!rowrelay_insert', 'insert', format('(%s)', new_passes), 'INSERT'),
        ('!rowrelay_delete', 'delete', format('(%s)', old_passes), 'DELETE'),
        ('!rowrelay_update', 'update', format('((%s) and (%s))', old_passes, new_passes), 'UPDATE'),
        ('!rowrelay_update_in', 'update', format('((%s) and (%s) is not true)', new_passes, old_passes), 'INSERT'),
        ('!rowrelay_update_out', 'update', format('((%s) and (%s) is not true)', old_passes, new_passes), 'DELETE')
      ) as v where capture.row_filter is not null
    )
    select m.relation::regclass, t.name,
           format('create trigger %I after %s on %s for each row %s execute function rowrelay.%I(%s)',
                  t.name, t.event, m.relation::regclass, 'when ' || t.condition, 'capture_' || capture.id,
                  quote_literal(t.argument)),
           (case when by_statement then 'R' else 'A' end)::"char"
      from member m cross join row_trigger t
     where m.relation = capture.relation or not has_parts
    union all
    select m.relation::regclass, t.name,
           format('create trigger %I %s truncate on %s for each statement execute function '
                  'rowrelay.capture_truncate(%L)',
                  t.name, t.moment, m.relation::regclass, capture.id), 'A'::"char"
      from (values ('!rowrelay_truncate', 'before'), ('!rowrelay_truncated', 'after')) as t(name, moment)
      cross join member m
     where case (select c.relkind from pg_class c where c.oid = m.relation)
             when 'f' then current_setting('server_version_num')::integer >= 160000 -- which has such triggers
             when 'r' then true
             when 'p' then true end
    union all
    select capture.relation, t.name,
           format('create trigger %I after %s on %s referencing %s for each statement execute function rowrelay.%I()',
                  t.name, t.event, capture.relation, t.tables, rowrelay.statement_name(capture.id)), 'O'::"char"
      from (values ('!rowrelay_inserted', 'insert', 'new table as rowrelay_new'),
                   ('!rowrelay_updated', 'update', 'old table as rowrelay_old new table as rowrelay_new'),
                   ('!rowrelay_deleted', 'delete', 'old table as rowrelay_old')) as t(name, event, tables)
     where by_statement
    union all
    select capture.relation, '!rowrelay_alone',
           format('create trigger %I after insert on %s referencing new table as rowrelay_new for each row '
                  'execute function rowrelay.stand_alone(%L)', '!rowrelay_alone', capture.relation, capture.id), 'D'
     where by_statement;
end
$$;
