-- Purpose:    remembers by which change a row version went that this transaction itself had made, of a table without a key.
--             Its own change may come later: the two cancel each other, and rowrelay.take_follower() takes them out.
-- Parameters: table and place of the version; the change that says that it went, and its partition
create or replace function rowrelay.note_follower(relation oid, version tid, change_id bigint, day date) returns void
language plpgsql as $$
begin
  insert into rowrelay.follower as f (txid, relation, version, change_id, day)
  values (pg_catalog.pg_current_xact_id(), note_follower.relation, note_follower.version, note_follower.change_id, note_follower.day)
  on conflict on constraint follower_pkey do update set change_id = excluded.change_id, day = excluded.day;
end
$$;
