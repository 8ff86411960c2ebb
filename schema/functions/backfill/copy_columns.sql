-- Purpose:    returns the columns of a captured table that go to targets, for comparison with those of a target's table
-- Parameters: capture
-- Result:     [{"name", "type": with its schema; for a domain the base type, "plain": COPY transfers the same value as
--             the trigger's image}]
create or replace function rowrelay.copy_columns(capture rowrelay.capture) returns json
language sql stable as $$
  select json_agg(json_build_object(
           'name', a.attname,
           'type', n.nspname || '.' || t.typname,
           -- a mask is JSON: only a scalar can stand for a value of any type
           'plain', coalesce(json_typeof(m.value) not in ('object', 'array')
                             or t.oid in ('json'::regtype, 'jsonb'::regtype), true))
           order by a.attnum)
    from pg_attribute a
    join pg_type t on t.oid = rowrelay.base_type(a.atttypid)
    join pg_namespace n on n.oid = t.typnamespace
    cross join rowrelay.image_columns(capture) as i
    left join json_each(i.masks) as m on m.key = a.attname
   where a.attrelid = capture.relation and a.attnum > 0 and not a.attisdropped
     and a.attname::text <> all (i.leave_out) and (i.keep is null or a.attname::text = any (i.keep))
$$;
