-- Purpose:    returns a statement that creates the index by which a table's rows would be found
-- Parameters: relation; aliases: a regular expression for its names in conditions; conditions: of a plan, as EXPLAIN
--             (verbose) prints them, the most telling first
-- Result:     one statement, or several where either of two columns may be equal; null: no condition compares a column
--             for equality
create or replace function rowrelay.index_creation(relation regclass, aliases text, conditions text[]) returns text
language plpgsql stable as $$
declare
  -- a column, with a type that it may be cast to
  operand   constant text := '(?<![[:alnum:]_"])(?:' || aliases || ')[.]("(?:[^"]|"")+"|[[:alpha:]_][[:alnum:]_$]*)'
                             '[)]?(?:::([a-z ]+?))?[)]?';
  condition text;
  columns   text[];
  creations text;
begin
  foreach condition in array coalesce(conditions, '{}') loop
    select array_agg(i.item order by i.place) into columns
      from (select case when f.type is null or f.type = a.atttypid
                             or exists (select from pg_cast k where k.castsource = a.atttypid and k.casttarget = f.type
                                                                and k.castmethod = 'b')
                        then quote_ident(a.attname) else format('(%I::%s)', a.attname, f.type::text) end as item,
                   min(f.place) as place
              from (select r.place, coalesce(r.m[1], r.m[3]) as name,
                           to_regtype(coalesce(r.m[2], r.m[4])) as type
                      from regexp_matches(condition, operand || ' = (?![''0-9])| = (?:ANY )?[(]*' || operand, 'g')
                           with ordinality as r(m, place)) as f
              join pg_attribute a on a.attrelid = index_creation.relation and a.attnum > 0 and not a.attisdropped
                                 and quote_ident(a.attname) = f.name
             group by 1) as i;
    if columns is null then
      continue;
    end if;
    -- where either may be equal, each of them alone must lead to rows
    select string_agg(format('CREATE INDEX %sON %s (%s);',
                             case when c.relkind = 'p' then '' else 'CONCURRENTLY ' end,
                             rowrelay.full_name(c.oid), u.list), ' ' order by u.list)
      into creations
      from pg_class c
      cross join lateral (
        select array_to_string(columns, ', ') as list where condition !~ ' OR '
        union all
        select l.item from unnest(columns) as l(item) where condition ~ ' OR ') as u
     where c.oid = index_creation.relation;
    return creations;
  end loop;
  return null;
end
$$;
