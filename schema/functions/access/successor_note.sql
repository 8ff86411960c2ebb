-- Purpose:    tells people of the table that has taken the place of a captured one, and what captures it as that was
-- Parameters: capture
-- Result:     null: none has
create or replace function rowrelay.successor_note(capture rowrelay.capture) returns text
language plpgsql stable as $$ -- rather than SQL, because its plan is kept
begin
  return (
    select concat(
             case when s.for_documents
                    then format('%s; documents read the one that has its name now, %s, and miss its changes',
                                coalesce('the table is called ' || rowrelay.full_name(capture.relation) || ' now',
                                         'the table is gone'),
                                rowrelay.full_name(s.relation))
                  when rowrelay.full_name(capture.relation) is null
                    then 'the table is gone, and the one that has its name now is not captured: no target gets its '
                         'changes'
                  else format('the table is called %1$s now, and the one that has its name now, %2$s, is not captured '
                              'as it was: targets do not get its changes (if they are to get those of %1$s: %3$s)',
                              rowrelay.full_name(capture.relation), rowrelay.full_name(s.relation),
                              rowrelay.command('rowrelay capture %s', 'select rowrelay.capture_table(%L)',
                                               rowrelay.full_name(capture.relation))) end,
             '; to capture it again: ', rowrelay.capture_again(capture))
      from rowrelay.successor(capture) as s
     where s.relation is not null);
end
$$;
