-- Purpose:    returns the condition for rows after a position in the order of some columns, or up to and including it
-- Parameters: relation; names of the columns; their values at the position, as text; behind: true for rows after it
-- Result:     a condition on a row called new, with the types' own operators, which need not be in search_path
-- Errors:     values of a column cannot be read without running a user's CHECK
create or replace function rowrelay.backfill_bound(relation regclass, names text[], texts text[], behind boolean)
returns text language plpgsql stable as $$
declare
  direction  constant text := case when behind then '>' else '<' end;
  of_columns text;
  of_values  text;
  condition  text; -- of the columns so far, from the last on
  first_one  text;
  is_usual   boolean := true;
  part       record;
begin
  for part in
    select u.name, rowrelay.has_domain_parts(relation, array[a.attnum]) as is_checked,
           rowrelay.plain_value('new', a.attname, a.atttypid) as mine,
           format('%L::%s', u.value, rowrelay.plain_type(a.atttypid, a.attcollation)) as bound,
           -- of a type that has a class of its own; arrays, enums, ranges and rows share those of PostgreSQL
           coalesce(o.schema, 'pg_catalog') as schema, coalesce(o.equal, '=') as equal,
           coalesce(o.beyond, direction) as beyond,
           coalesce(o.not_before, direction || '=') as not_before
      from unnest(names, texts) with ordinality as u(name, value, position)
      join pg_attribute a on a.attrelid = relation and a.attname = u.name and not a.attisdropped
      left join lateral (
        select min(n.nspname) as schema, min(p.oprname) filter (where s.amopstrategy = 3) as equal,
               min(p.oprname) filter (where s.amopstrategy = case when behind then 5 else 1 end) as beyond,
               min(p.oprname) filter (where s.amopstrategy = case when behind then 4 else 2 end) as not_before
          from pg_opclass c
          join pg_amop s on s.amopfamily = c.opcfamily and s.amoplefttype = c.opcintype
                        and s.amoprighttype = c.opcintype
          join pg_operator p on p.oid = s.amopopr
          join pg_namespace n on n.oid = p.oprnamespace
         where c.opcmethod = (select m.oid from pg_am m where m.amname = 'btree') and c.opcdefault
           and c.opcintype = rowrelay.base_type(a.atttypid)) as o on true
     order by u.position desc
  loop
    if part.is_checked then
      raise exception 'table % cannot be read piece by piece: column "%" holds rows with domains', relation, part.name
        using errcode = 'object_not_in_prerequisite_state',
          detail = 'Their CHECKs would have to be run again for each piece.',
              hint = 'Copy the table as a whole into an empty mirror, or make a unique index on other columns.';
    end if;
    is_usual := is_usual and part.schema = 'pg_catalog';
    of_columns := concat_ws(', ', part.mine, of_columns);
    of_values := concat_ws(', ', part.bound, of_values);
    first_one := format('%s operator(%I.%s) %s', part.mine, part.schema, part.not_before, part.bound);
    if condition is null and not behind then
      condition := first_one;
    else
      condition := format('(%1$s operator(%2$I.%3$s) %4$s', part.mine, part.schema, part.beyond, part.bound)
                   || coalesce(format(' or %s operator(%I.%s) %s', part.mine, part.schema, part.equal, part.bound)
                               || ' and ' || condition, '') || ')';
    end if;
  end loop;
  if is_usual then
    return format('(%s) %s (%s)', of_columns, case when behind then '>' else '<=' end, of_values);
  end if;
  return format('%s and %s', first_one, condition); -- the first for the index
end
$$;
