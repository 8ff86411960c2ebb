-- Purpose:    whether a target keeps rows as they are at last, rather than each change of them
-- Parameters: target
-- Result:     true for mirrors, search indexes and documents
create or replace function rowrelay.keeps_state(target rowrelay.target) returns boolean
language sql stable as $$
  select exists (select from rowrelay.document d where d.target = target.id)
         or target.url ~ E'^(elasticsearch|opensearch)\\+'
         or target.url ~ '^postgres(ql)?:' and target.options ->> 'mode' is distinct from 'append'
$$;
