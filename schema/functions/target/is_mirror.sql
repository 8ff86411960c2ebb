-- Purpose:    whether a target is a mirror in PostgreSQL, which rowrelay verify compares with its source
-- Parameters: target
create or replace function rowrelay.is_mirror(target rowrelay.target) returns boolean
language sql stable as $$
  select target.url ~ '^postgres(ql)?:' and coalesce(target.options ->> 'mode', 'mirror') = 'mirror'
         and not exists (select from rowrelay.document d where d.target = target.id)
$$;
