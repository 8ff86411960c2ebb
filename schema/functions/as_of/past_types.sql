-- Purpose:    lists the columns of a captured table with the types in which as_of() reads them. Rows that are only
--             shown are not read as the table's types: CHECKs of domains are the code of who owns these, and must not
--             run for who looks back.
-- Parameters: past
-- Result:     number and name of each column; the type, its modifier and its name in SQL; whether the value stays as it
--             is in images, because no type reads it without a CHECK; SQL for the present value on a row called new
create or replace function rowrelay.past_types(past rowrelay.past, out number smallint, out name name, out type oid,
                                               out modifier integer, out type_name text, out is_image boolean,
                                               out present text) returns setof record
language plpgsql stable as $$
begin
  return query
    select a.attnum, a.attname, t.oid, t.modifier, format_type(t.oid, t.modifier), t.is_image,
           case when t.is_image then (select v.value from rowrelay.image_values((past.capture).relation, 'new') as v
                                       where v.number = a.attnum)
                when t.oid <> a.atttypid then rowrelay.plain_value('new', a.attname, a.atttypid)
                else format('new.%I', a.attname) end
      from pg_attribute a
      cross join lateral (
        select a.atttypid, a.atttypmod, false where past.is_shown is not true
        union all
        select 'json'::regtype, -1, true where past.is_shown and rowrelay.has_inner_domain(a.atttypid)
        union all
        select p.oid, case when p.oid = a.atttypid then a.atttypmod else -1 end, false
          from rowrelay.plain_oid(a.atttypid) as p(oid)
         where past.is_shown and not rowrelay.has_inner_domain(a.atttypid)) as t(oid, modifier, is_image)
     where a.attrelid = (past.capture).relation and a.attnum > 0 and not a.attisdropped
     order by a.attnum;
end
$$;
