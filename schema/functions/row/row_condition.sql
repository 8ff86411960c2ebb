-- Purpose:    returns SQL for "this row exists with exactly these values": the key, which finds it, and all values that
--             the log has, compared byte by byte (*=), because = takes 1.0 for 1.00 and some types have no =
-- Parameters: capture; values, see rowrelay.row_texts(); name of the row in the statement; key_only: only the key
-- Result:     condition; for a table without a key only the values
create or replace function rowrelay.row_condition(capture rowrelay.capture, texts jsonb, row_name text,
                                                  key_only boolean default false) returns text
language sql stable set search_path = pg_catalog, pg_temp as $$
  with compared as (
    select a.attname, a.attnum, u.position,
      rowrelay.typed_literal(capture.relation, a.attname, texts ->> a.attname) as literal
      from pg_attribute a
      left join unnest(rowrelay.live_key(capture)) with ordinality as u(number, position) on u.number = a.attnum
     where a.attrelid = capture.relation and a.attnum > 0 and not a.attisdropped and texts ? a.attname::text
       -- a mask is not the row's value
       and not (u.number is null and (capture.mask ? a.attnum::text or capture.mask_names ? a.attname::text))
  )
  select concat_ws(' and ',
    (select string_agg(format('%I.%I %s %s', row_name, c.attname, coalesce(e.operator, '='), c.literal), ' and '
                       order by c.position)
       from compared c
       left join pg_attribute a on a.attrelid = capture.relation and a.attnum = c.attnum
       left join lateral (
         select format('operator(%I.%s)', n.nspname, o.oprname) as operator
           from pg_opclass k
           join pg_am m on m.oid = k.opcmethod and m.amname = 'btree'
           join pg_amop p on p.amopfamily = k.opcfamily and p.amoplefttype = k.opcintype
             and p.amoprighttype = k.opcintype
                         and p.amopstrategy = 3
           join pg_operator o on o.oid = p.amopopr
           join pg_namespace n on n.oid = o.oprnamespace and n.nspname <> 'pg_catalog'
          where k.opcdefault and k.opcintype = rowrelay.base_type(a.atttypid)) as e on true
      where c.position is not null),
    (select format('row(%s)::record *= row(%s)::record',
                   string_agg(format('%I.%I', row_name, c.attname), ', ' order by c.attnum),
                   string_agg(c.literal, ', ' order by c.attnum))
       from compared c
      where not key_only and (c.position is null or not capture.key_is_exact)
     having count(*) > 0))
$$;
