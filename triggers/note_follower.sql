-- Purpose:    records which change removed a row version that this transaction had made itself, in a table without a
--             key. The change that made the version may be captured later: then the two cancel each other, and
--             rowrelay.take_follower() removes them.
-- Parameters: table and ctid of the version; the change that removed it, and its partition
create or replace function rowrelay.note_follower(relation oid, version tid, change_id bigint, day date) returns void
language plpgsql as $$
begin
  insert into rowrelay.follower as f (txid, relation, version, change_id, day)
  values (pg_catalog.pg_current_xact_id(), note_follower.relation, note_follower.version, note_follower.change_id,
          note_follower.day)
  on conflict on constraint follower_pkey do update set change_id = excluded.change_id, day = excluded.day;
end
$$;
