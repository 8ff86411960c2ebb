-- Purpose:    returns the keys of a table that is about to be truncated which rows of its parent or of other
--             inheritance children have, too: these rows are left, though the keys are captured as deleted. See
--             record_left(). The truncate holds the strongest lock on its table, so nobody is waited for who may wait
--             for it, such as a truncate of a sibling: then none is returned, and what was listed of such keys stays
--             listed.
-- Parameters: capture; the table
create or replace function rowrelay.keys_left(capture rowrelay.capture, relation regclass) returns text[]
language plpgsql set lock_timeout = '100ms' set jit = off as $$
declare
  keys text[];
begin
  if cardinality(rowrelay.live_key(capture)) > 0 and rowrelay.has_children(capture.relation) then
    begin
      execute format('select array_agg(distinct %s) from only %s as old '
                     ' where exists (select from %s as t where %s and t.tableoid <> %s)',
                     rowrelay.key_expression(capture.relation, rowrelay.live_key(capture), 'old'), relation,
                     rowrelay.rows_here(capture), rowrelay.same_key(capture, 't', 'old'), relation::oid)
         into keys;
      raise exception 'gives up the locks of the other tables'; -- which would last as long as the transaction
    exception when raise_exception or lock_not_available or deadlock_detected then
      null;
    end;
  end if;
  return coalesce(keys, '{}');
end
$$;
