-- Purpose:    whether no two rows of a capture can have the same key, not even within a statement
-- Parameters: capture
-- Result:     false also when there is no key, or no longer, and for a table with inheritance children, which an index
--             does not cover
create or replace function rowrelay.key_is_unique(capture rowrelay.capture) returns boolean
language sql stable as $$
  select exists (
           select from pg_index i
            where i.indrelid = capture.relation and i.indisunique and i.indisvalid and i.indimmediate
              and i.indpred is null and i.indexprs is null
              and (i.indkey::smallint[])[0:i.indnkeyatts - 1] operator(pg_catalog.<@) rowrelay.live_key(capture))
     and not rowrelay.has_children(capture.relation)
$$;
