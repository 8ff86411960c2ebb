-- Purpose:    which changes are a row's, by its key
-- Parameters: relation; key as the log has it: its text, a JSON array of several columns
-- Result:     the changes and their partitions, the newest first; truncates are not among them
create or replace function rowrelay.changes_of_key(relation regclass, key text) returns table (change_id bigint, day date)
language sql stable as $$
  select f.change_id, f.day
    from rowrelay.changes_of(array(select c.id from rowrelay.capture c where c.relation = changes_of_key.relation), changes_of_key.key) as f
   where changes_of_key.key is not null
$$;
