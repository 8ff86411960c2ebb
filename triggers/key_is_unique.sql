-- Purpose:    whether no two rows of a capture can have the same key, not even for the time of a statement
-- Parameters: capture
-- Result:     false also when there is no key, or not any more, and for a table whose inheritance children have rows too: an
--             index is of one table
create or replace function rowrelay.key_is_unique(capture rowrelay.capture) returns boolean
language sql stable as $$
  select exists (
           select from pg_index i
            where i.indrelid = capture.relation and i.indisunique and i.indisvalid and i.indimmediate
              and i.indpred is null and i.indexprs is null
              and (i.indkey::smallint[])[0:i.indnkeyatts - 1] <@ rowrelay.live_key(capture))
     and not rowrelay.has_children(capture.relation)
$$;
