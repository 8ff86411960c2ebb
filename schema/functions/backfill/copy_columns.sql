-- Purpose:    the columns of a captured table that go to targets, for comparing them with those of a target's table
-- Parameters: capture
-- Result:     [{"name", "type": with its schema, a domain's is what it is made of, "plain": COPY can bring it as the trigger's
--             image does}]
create or replace function rowrelay.copy_columns(capture rowrelay.capture) returns json
language sql stable as $$
  select json_agg(json_build_object(
           'name', a.attname,
           'type', n.nspname || '.' || t.typname,
           -- what takes the place of a value is JSON, and stands for a value of any type only if it is a simple one
           'plain', coalesce(json_typeof(m.value) not in ('object', 'array') or t.oid in ('json'::regtype, 'jsonb'::regtype), true))
           order by a.attnum)
    from pg_attribute a
    join pg_type t on t.oid = rowrelay.base_type(a.atttypid)
    join pg_namespace n on n.oid = t.typnamespace
    cross join rowrelay.image_columns(capture) as i
    left join json_each(i.masks) as m on m.key = a.attname
   where a.attrelid = capture.relation and a.attnum > 0 and not a.attisdropped
     and a.attname::text <> all (i.leave_out) and (i.keep is null or a.attname::text = any (i.keep))
$$;
