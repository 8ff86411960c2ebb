-- Purpose:    whether a target keeps the last state of rows rather than every change
-- Parameters: target
-- Result:     true for mirrors, search indexes and documents
create or replace function rowrelay.keeps_state(target rowrelay.target) returns boolean
language sql stable as $$
  select exists (select from rowrelay.document d where d.target = target.id)
         or target.options ->> 'mode' is distinct from 'append'
            and coalesce((select k.keeps_state from rowrelay.target_kind(target.url) as k), false)
$$;
