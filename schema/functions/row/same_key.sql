-- Purpose:    returns SQL that compares the keys of two rows by each type's own equality operator, which need not be in
--             search_path: two spellings in citext are one key
-- Parameters: capture; names of the two rows
-- Result:     a condition
create or replace function rowrelay.same_key(capture rowrelay.capture, one text, other text) returns text
language plpgsql stable as $$ -- rather than SQL, because its plans are kept
begin
  return (
    select string_agg(format('%s operator(%s) %s', rowrelay.plain_value(one, a.attname, a.atttypid),
                             coalesce(e.operator, 'pg_catalog.='), rowrelay.plain_value(other, a.attname, a.atttypid)),
                      ' and ' order by u.position)
      from unnest(capture.key_columns) with ordinality as u(number, position)
      join pg_attribute a on a.attrelid = capture.relation and a.attnum = u.number and not a.attisdropped
      cross join lateral (select rowrelay.base_type(a.atttypid) as type offset 0) as b -- once, not for each class
      left join lateral (
        select format('%I.%s', n.nspname, o.oprname) as operator
          from pg_opclass c
          join pg_am m on m.oid = c.opcmethod and m.amname = 'btree'
          join pg_amop p on p.amopfamily = c.opcfamily and p.amoplefttype = c.opcintype
            and p.amoprighttype = c.opcintype
                        and p.amopstrategy = 3
          join pg_operator o on o.oid = p.amopopr
          join pg_namespace n on n.oid = o.oprnamespace
         where c.opcdefault and c.opcintype = b.type) as e on true);
end
$$;
