-- Purpose:    returns how long ago a change was committed, if the server keeps commit times (track_commit_timestamp),
--             else how long ago it was captured
-- Parameters: its transaction; when it was captured
-- Result:     microseconds
create or replace function rowrelay.change_age(txid xid8, captured_at timestamptz) returns bigint
language sql volatile as $$
  select (date_part('epoch', clock_timestamp() - coalesce(
            case when current_setting('track_commit_timestamp')::boolean then pg_xact_commit_timestamp(txid::xid) end,
            captured_at)) * 1000000)::bigint
$$;
