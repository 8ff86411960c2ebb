-- Columns of a table whose types may make something else of what the source has in them, and accept it all the same:
-- numbers and times are rounded, texts are spelled otherwise, attributes that a row type lacks are left out. In the key
-- several could become one. So a column is one of them unless its type is known to keep every value of the type at the
-- source, or to refuse it. The remedy is null where no statement alone would do.
--   $1 table  $2 [{"name", "type", "leaves": what rowrelay.type_leaves() gives for a type that is not PostgreSQL's
--      own}] of the source's columns  $3 names of the key's columns, JSON array
-- Gives coarse: problem, remedy
with recursive column_here as (
  select c.name, c.type, c.position, c.name in (select json_array_elements_text($3::json)) as in_key, c.leaves,
         a.atttypid, a.atttypmod, format_type(a.atttypid, a.atttypmod) as there
    from rows from (json_to_recordset($2::json) as (name text, type text, leaves json)) with ordinality
           as c(name, type, leaves, position)
    join pg_attribute a on a.attrelid = to_regclass($1) and a.attname = c.name and a.attnum > 0 and not a.attisdropped
), part(name, path, oid, modifier) as (
  -- as rowrelay.type_leaves() does; types that are the same by name are taken for the same unless they are people's
  select c.name, '' collate "C", c.atttypid, c.atttypmod
    from column_here c
   where c.type <> c.there or c.atttypid >= 16384
  union all
  select p.name, p.path || n.step, n.oid, n.modifier
    from part p
    join pg_type t on t.oid = p.oid
   cross join lateral (
     select '', t.typbasetype, t.typtypmod where t.typtype = 'd'
     union all
     select '[]', t.typelem, p.modifier where t.typtype <> 'd' and t.typcategory = 'A'
     union all
     select '.' || quote_ident(a.attname), a.atttypid, a.atttypmod from pg_attribute a
      where t.typtype = 'c' and a.attrelid = t.typrelid and a.attnum > 0 and not a.attisdropped)
     as n(step, oid, modifier)
), leaf_there as (
  select p.name, p.path, format_type(p.oid, p.modifier) as type, p.oid, p.oid >= 16384 as is_own,
         t.typtype = 'e' as is_enum
    from part p
    join pg_type t on t.oid = p.oid
   where t.typtype not in ('d', 'c') and t.typcategory <> 'A'
), leaf_here as (
  select c.name, l.path, l.type, l.own as is_own
    from column_here c
   cross join lateral (
     select l.path, l.type, l.own from json_to_recordset(c.leaves) as l(path text, type text, own boolean)
     union all
     select case when c.type like '%[]' then '[]' else '' end, replace(c.type, '[]', ''), false
      where c.leaves is null) as l
), coarse as (
  select h.name, h.path, h.type as here, t.type as there,
         t.oid = w.oid or w.typcategory = 'S'
         or exists (select from pg_cast k
                     where k.castsource = t.oid and k.casttarget = w.oid and k.castcontext in ('a', 'i')) as is_cast
    from leaf_here h
    join leaf_there t on t.name = h.name and t.path = h.path
    join column_here c on c.name = h.name
    left join pg_type w on w.oid = to_regtype(h.type)
   cross join lateral (
     select (regexp_match(t.type, ',(-?\d+)\)'))[1]::int as scale_there,
            coalesce((regexp_match(h.type, ',(-?\d+)\)'))[1]::int,
                     case when h.type ~ '^numeric\(' then 0 when h.type ~ '^(small|big)?int' then -1 end) as scale_here,
            coalesce((regexp_match(t.type, '^(?:time|interval)[^(]*\((\d)\)'))[1]::int, 6) as digits_there,
            coalesce((regexp_match(h.type, '^(?:time|interval)[^(]*\((\d)\)'))[1]::int, 6) as digits_here,
            (regexp_match(t.type, '\((\d+)\)'))[1]::int as length_there,
            (regexp_match(h.type, '\((\d+)\)'))[1]::int as length_here,
            regexp_replace(t.type, '\(\d\)', '') as family_there,
            regexp_replace(h.type, '\(\d\)', '') as family_here) as p
   where t.type <> h.type and not (t.is_own and h.is_own)
     and case
           when t.type in ('text', 'character varying') then false
           -- blanks at the end that do not fit are cut
           when t.type ~ '^character varying'
             then c.in_key and (h.type ~ '^character varying'
                                and p.length_here <= p.length_there) is not true
           when t.type ~ '^(character|bpchar)\M' then h.type !~ '^(character|bpchar)\M(?! varying)'
           when t.type ~ '^numeric\(' then (h.type ~ '^(numeric|smallint|integer|bigint)'
                                           and p.scale_here <= coalesce(p.scale_there, 0)) is not true
           when t.type ~ '^(smallint|integer|bigint|numeric)$'
             then h.type !~ '^(smallint|integer|bigint|numeric|real|double precision)'
           when t.type = 'money' then h.type !~ '^(smallint|integer|bigint)$'
           when t.type = 'real' then h.type <> 'smallint'
           when t.type = 'double precision' then h.type !~ '^(smallint|integer|real)$'
           when t.type ~ '^time'
             then not (p.family_here = p.family_there and p.digits_here <= p.digits_there
                       or h.type = 'date' and p.family_there = 'timestamp without time zone')
           when t.type ~ '^interval' then not (p.family_there = 'interval' and h.type ~ '^interval'
                                               and p.digits_here <= p.digits_there)
           when t.type = 'json' then h.type <> 'jsonb'
           -- what is no label is refused
           when t.is_enum or t.type ~ '\mcitext$' and not c.in_key then h.type !~ '^(text|character varying)'
           else true end
), lacking as (
  -- the type there is made of attributes, too, and has no such
  select distinct h.name, (regexp_match(h.path, '^.*\.("(?:[^"]|"")+"|[^."[]+)'))[1] as attribute
    from leaf_here h
   where h.path like '%.%'
     and not exists (select from leaf_there t where t.name = h.name and t.path = h.path)
     and exists (select from leaf_there t
                  where t.name = h.name
                    and left(t.path, length(h.path) - length(substring(h.path from '\.[^.]*$')) + 1)
                        = left(h.path, length(h.path) - length(substring(h.path from '\.[^.]*$')) + 1))
)
select case when x.attribute is not null
            then format('the type %s of column %I of table %s in the target has no attribute %s', c.there, c.name, $1,
                        x.attribute)
            else format('column %I of table %s in the target has type %s, and %s at the source: %s', c.name, $1,
                        x.there, x.here, case when c.in_key then 'several keys could become one'
                                              else 'its values would not be kept as they are' end) end as problem,
       case when x.path in ('', '[]') then
              format('alter table %s alter %I type %s%s', $1, c.name, x.here || x.path,
                     case when x.is_cast is not true
                          then format(' using %I::text::%s', c.name, x.here || x.path) end) end
         as remedy
  from (select c.name, c.path, c.here, c.there, c.is_cast, null as attribute from coarse c
        union all
        select l.name, null, null, null, null, l.attribute from lacking l) as x
  join column_here c on c.name = x.name
 order by c.in_key desc, c.position;
