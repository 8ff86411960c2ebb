-- Purpose:    notes keys of a table that is about to be truncated which rows of its parent or of other inheritance
--             children have, too: these rows are left, though the keys are captured as deleted. See record_left().
-- Parameters: capture; the table
create or replace function rowrelay.note_left(capture rowrelay.capture, relation regclass) returns void
language plpgsql as $$
declare
  keys text[];
begin
  if cardinality(rowrelay.live_key(capture)) > 0 and rowrelay.has_children(capture.relation) then
    execute format('select array_agg(distinct %s) from only %s as old '
                   ' where exists (select from %s as t where %s and t.tableoid <> %s)',
                   rowrelay.key_expression(capture.relation, rowrelay.live_key(capture), 'old'), relation,
                   capture.relation, rowrelay.same_key(capture, 't', 'old'), relation::oid)
       into keys;
    perform set_config('rowrelay.left_' || relation::oid, keys::text, true);
  end if;
end
$$;
