-- Purpose:    refuses a change of a row whose key another one has in the log, of the table or its inheritance children:
--             it does not say which of them the change is of, nor which one its previous change was of
-- Parameters: change; its capture
-- Errors:     object_not_in_prerequisite_state
create or replace function rowrelay.check_not_shared(change rowrelay.change, capture rowrelay.capture) returns void
language plpgsql stable as $$
declare
  spellings text[];
begin
  if change.key is null or not rowrelay.has_children(capture.relation) then
    return;
  end if;
  -- apart: as a condition it would be evaluated for each row
  spellings := rowrelay.spellings(array[change.capture], array[change.key]);
  if exists (select from rowrelay.readable_change h
              where h.capture = change.capture and h.key = any (spellings)
                and h.caveat ->> 'problem' = rowrelay.shared_key()) then
    raise exception 'change % cannot be undone: several rows of table % have the key %, or had it', change.id,
                    capture.relation, change.key
      using errcode = 'object_not_in_prerequisite_state',
            detail = 'They are in the table and its inheritance children, and the log does not tell them apart.',
            hint = 'Correct the rows by hand.';
  end if;
end
$$;
