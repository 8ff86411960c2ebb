-- Purpose:    refuses a change that cannot be undone, whatever its row was before
-- Parameters: change; its capture
-- Errors:     a truncate, one that could not be captured, an update that a row filter turned into an insert or delete,
--             one whose values were redacted
create or replace function rowrelay.check_undoable(change rowrelay.change, capture rowrelay.capture) returns void
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  if change.op = 't' then
    raise exception 'change % cannot be undone: it truncated table %', change.id, capture.relation
      using errcode = 'object_not_in_prerequisite_state',
            hint = 'The rows are in the log, at a time before it: '
                     || rowrelay.command('rowrelay log %1$s --as-of TIME',
                                         'insert into %1$s select * from rowrelay.as_of(null::%1$s, ''TIME'');',
                                         capture.relation::text);
  elsif change.caveat -> 'problem' is not null or change.op <> 'd' and change.new_row is null then
    raise exception 'change % of table % cannot be undone: it could not be captured', change.id, capture.relation
      using errcode = 'object_not_in_prerequisite_state', detail = change.caveat ->> 'problem';
  elsif change.caveat -> 'filtered' is not null then
    raise exception 'change % of table % cannot be undone: %', change.id, capture.relation,
                    case change.op when 'i' then 'the row existed before' else 'the row still exists' end
      using errcode = 'object_not_in_prerequisite_state',
            detail = format(
              'An update made it %s the row filter (%s), and the log does not have the row from before it.',
              case change.op when 'i' then 'meet' else 'fail' end, capture.row_filter),
            hint = 'Correct the row by hand.';
  end if;
  perform rowrelay.check_not_redacted(change, capture);
end
$$;
