-- Purpose:    SQL for the hash that chooses the lane. It uses each type's own hash function, because that agrees with
--             the type's idea of equality where texts do not: 1.0 and 1.00, or two spellings in citext, are one key.
-- Parameters: capture id (its number is the hash of a table that is one lane); relation; attribute numbers; new or old
-- Result:     an expression of type integer
create or replace function rowrelay.hash_expression(capture_id integer, relation regclass, numbers smallint[],
                                                    row_name text) returns text
language plpgsql stable as $$
declare
  part   record;
  hashed text;
begin
  for part in
    select a.attname, hash_function.proname, hash_function.nspname
      from unnest(numbers) with ordinality as u(n, position)
      join pg_attribute a on a.attrelid = relation and a.attnum = u.n and not a.attisdropped
      -- the type itself, or what it is made of: a domain's base, varchar's text, any array, enum, record or range
      left join lateral (
        select p.proname, n.nspname
          from pg_type t
          join pg_opclass c on c.opcmethod = (select oid from pg_am where amname = 'hash') and c.opcdefault
          join pg_amproc ap on ap.amprocfamily = c.opcfamily and ap.amproclefttype = c.opcintype
                            and ap.amprocrighttype = c.opcintype and ap.amprocnum = 1
          join pg_proc p on p.oid = ap.amproc
          join pg_namespace n on n.oid = p.pronamespace
         where t.oid = rowrelay.base_type(a.atttypid)
           -- date, for one, borrows the function of integer, which SQL does not let it call
           and p.proargtypes[0] = c.opcintype
           and (c.opcintype = t.oid
                or t.oid = 'varchar'::regtype and c.opcintype = 'text'::regtype
                or t.typtype = 'e' and c.opcintype = 'anyenum'::regtype
                or t.typtype = 'r' and c.opcintype = 'anyrange'::regtype
                or t.typcategory = 'A' and c.opcintype = 'anyarray'::regtype)
         order by c.opcintype = t.oid desc
         limit 1) as hash_function on true
     order by u.position
  loop
    hashed := concat_ws(', ', hashed,
      case when part.proname is null
           then format('pg_catalog.hashtext(%s.%I::pg_catalog.text)', row_name, part.attname)
           else format('%I.%I(%s.%I)', part.nspname, part.proname, row_name, part.attname) end);
  end loop;
  return case
    when hashed is null then format('pg_catalog.hashint4(%s)', capture_id)
    when cardinality(numbers) = 1 then format('coalesce(%s, 0)', hashed)
    else format('pg_catalog.hashtext(pg_catalog.concat_ws('','', %s))', hashed)
  end;
end
$$;
