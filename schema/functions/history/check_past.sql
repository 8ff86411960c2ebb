-- Purpose:    refuses questions about the past that the log cannot answer
-- Parameters: relation; its capture, null: it was never captured; shape with which the log begins; at: a time, or null;
--             seen: a snapshot, or null
-- Errors:     the table is not captured; the caller may not read all of it; the time is before the log begins
create or replace function rowrelay.check_past(relation regclass, capture rowrelay.capture, begun rowrelay.shape,
                                               at timestamptz, seen pg_snapshot) returns void
language plpgsql stable as $$
declare
  parent  regclass;
  reaches boolean;
begin
  if capture.id is null or begun.id is null then
    select c.relation into parent from rowrelay.capture c
     where c.released_at is null and c.relation <> check_past.relation
       and check_past.relation = any (rowrelay.captured_tables(c));
    raise exception 'table % is not captured', relation
      using errcode = 'undefined_object',
            hint = case when parent is not null then format('It is captured as a part of %s: query that table.', parent)
                        else 'Capture it first: '
                               || rowrelay.command('rowrelay capture %s', 'select rowrelay.capture_table(%L);',
                                                   relation::text) end;
  end if;
  if capture.released_at is not null then
    raise exception 'table % is no longer captured', relation
      using errcode = 'undefined_object', detail = 'The log does not have the changes made since it was released.',
            hint = 'To see the captured changes: '
                     || rowrelay.command('rowrelay log %s',
                                         'select * from rowrelay.history where relation = %L::regclass;',
                                         relation::text);
  end if;
  if not has_table_privilege(relation, 'select') or row_security_active(relation) then
    raise exception 'permission denied for table %', relation using errcode = 'insufficient_privilege',
      detail = 'Only a role that may read all of its rows may read its past.',
      hint = 'Ask an administrator: ' || rowrelay.right_to_read(relation);
  end if;
  perform rowrelay.check_numbered(capture);
  if (at is null) = (seen is null) then
    raise exception 'the time or snapshot is null' using errcode = 'null_value_not_allowed';
  end if;

  if seen is null then
    reaches := at >= capture.log_since;
  else
    if not rowrelay.snapshot_includes(pg_current_snapshot(), seen) then
      raise exception 'snapshot % is not in the past', seen using errcode = 'invalid_parameter_value',
        detail = format('This statement sees %s.', pg_current_snapshot()),
        hint = 'Give a snapshot of this server that is not later than that of this transaction.';
    end if;
    reaches := pg_visible_in_snapshot(begun.txid, seen)
      and (capture.log_since <= begun.noticed_at -- else changes were dropped, and only a remaining one can tell
           or exists (select from rowrelay.readable_change h
                       where h.capture = capture.id and h.captured_at >= capture.log_since
                         and pg_visible_in_snapshot(h.txid, seen)));
  end if;
  if not reaches then
    raise exception 'the log of table % begins at %', relation, capture.log_since
      using errcode = 'invalid_parameter_value',
            detail = case when seen is null then format('It does not have the rows of %s.', at)
                          else 'That snapshot was taken before, or no remaining change shows that it was taken '
                               'later.' end,
            hint = 'Ask for a later time. To see earlier changes: '
                     || rowrelay.command('rowrelay log %s',
                                         'select * from rowrelay.history where relation = %L::regclass;',
                                         relation::text);
  end if;
end
$$;
