-- Purpose:    refuses questions about the past that the log cannot answer
-- Parameters: relation; its capture, null: it was never captured; shape with which the log begins; at: a time, or null;
--             seen: a snapshot, or null
-- Errors:     the table is not captured; the caller may not read all of it; the moment is before the log begins
create or replace function rowrelay.check_past(relation regclass, capture rowrelay.capture, begun rowrelay.shape,
                                               at timestamptz, seen pg_snapshot) returns void
language plpgsql stable as $$
declare
  parent  regclass;
  reaches boolean;
begin
  if capture.id is null or begun.id is null then
    select c.relation into parent from rowrelay.capture c
     where c.released_at is null and c.relation <> check_past.relation and check_past.relation = any (rowrelay.captured_tables(c));
    raise exception 'table % is not captured', relation
      using errcode = 'undefined_object',
            hint = case when parent is not null then format('It is captured together with %s: ask for that.', parent)
                        else format('Its past begins with: select rowrelay.capture_table(%L);', relation) end;
  end if;
  if capture.released_at is not null then
    raise exception 'table % is not captured any more', relation
      using errcode = 'undefined_object', detail = 'What it is now has no connection with what the log says of it.',
            hint = 'What was captured is in rowrelay.history.';
  end if;
  if not has_table_privilege(relation, 'select') or row_security_active(relation) then
    raise exception 'permission denied for table %', relation using errcode = 'insufficient_privilege',
      detail = 'Its past can be read by who may read all of its rows.';
  end if;
  if (at is null) = (seen is null) then
    raise exception 'the moment is null' using errcode = 'null_value_not_allowed';
  end if;

  if seen is null then
    reaches := at >= capture.log_since;
  else
    if not rowrelay.snapshot_includes(pg_current_snapshot(), seen) then
      raise exception 'snapshot % is not in the past', seen using errcode = 'invalid_parameter_value',
        detail = format('This statement sees %s.', pg_current_snapshot()),
        hint = 'It must be of this server, and not later than what this transaction can see.';
    end if;
    reaches := pg_visible_in_snapshot(begun.txid, seen)
      and (capture.log_since <= begun.noticed_at -- else something was removed, and only what is left can tell
           or exists (select from rowrelay.readable_change h
                       where h.capture = capture.id and h.captured_at >= capture.log_since and pg_visible_in_snapshot(h.txid, seen)));
  end if;
  if not reaches then
    raise exception 'the log of table % begins at %', relation, capture.log_since
      using errcode = 'invalid_parameter_value',
            detail = case when seen is null then format('It does not say what was there at %s.', at)
                          else 'That snapshot was taken before, or there is nothing left of the log that shows that it was not.' end,
            hint = 'Ask for a later moment. Changes that the log holds from before are in rowrelay.history.';
  end if;
end
$$;
