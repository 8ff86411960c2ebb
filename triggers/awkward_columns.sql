-- Purpose:    lists the columns whose values may not survive as JSON (see rowrelay.exact_image), and under which
--             condition
-- Parameters: relation
-- Result:     name; condition on the value, which %s stands for; whether it is a json column, whose text has to be told
--             apart from a JSON string (caveat.text_columns); whether it may contain what PostgreSQL refuses to read as
--             JSON: \u0000, half of a surrogate pair; its type
create or replace function rowrelay.awkward_columns(relation regclass, out name text, out condition text,
                                                    out is_json boolean,
                                                    out is_unreadable boolean, out type oid) returns setof record
language sql stable as $$
  select a.name, c.condition, t.oid in ('json'::regtype, 'jsonb'::regtype),
         t.oid <> 'jsonb'::regtype and not rowrelay.survives_json(coalesce(nullif(t.typelem, 0), t.oid)),
         a.type
    from pg_class r
    cross join lateral rowrelay.current_columns(r.reltype) as a
    -- offset 0: evaluates what follows only for these types, not for all types of the database. All others survive
    -- (rowrelay.survives_json), and most tables have no other.
    cross join lateral (select x.* from (select rowrelay.base_type(a.type) as oid offset 0) as b
                          join pg_type x on x.oid = b.oid
                         where x.typcategory = 'A' or x.typtype = 'c' or x.oid in ('json'::regtype, 'jsonb'::regtype)
                        offset 0) as t
    cross join lateral (
      -- \u0000, or half of a surrogate pair; only a database in UTF8 has a letter for every other escape
      select case when pg_catalog.getdatabaseencoding() = 'UTF8' then $sql$(
          pg_catalog.strpos(%1$s::pg_catalog.text, E'\\u0000') operator(pg_catalog.>) 0
          or (pg_catalog.strpos(%1$s::pg_catalog.text, E'\\ud') operator(pg_catalog.>) 0
              or pg_catalog.strpos(%1$s::pg_catalog.text, E'\\uD') operator(pg_catalog.>) 0)
             and pg_catalog.regexp_replace(%1$s::pg_catalog.text,
               E'\\\\\\\\|\\\\u[dD][89abAB]..\\\\u[dD][c-fC-F]..', '',
                 'g') operator(pg_catalog.~) E'\\\\u[dD][89a-fA-F]')$sql$
        else 'true' end
    ) as u(is_unreadable)
    cross join lateral (
      select case
        when t.oid = 'json'::regtype then
          $sql$pg_catalog.json_typeof(%1$s::pg_catalog.json) operator(pg_catalog.=) 'null'
          or pg_catalog.strpos(%1$s::pg_catalog.text, E'\\u') operator(pg_catalog.>) 0
            and $sql$ || u.is_unreadable || $sql$
          or pg_catalog.btrim(%1$s::pg_catalog.text, E' \\n\\r\\t') operator(pg_catalog.<>) %1$s::pg_catalog.text$sql$
        when t.oid = 'jsonb'::regtype
          then 'pg_catalog.jsonb_typeof(%1$s::pg_catalog.jsonb) operator(pg_catalog.=) ''null'''
        when t.typcategory = 'A' and t.typname not in ('int2vector', 'oidvector')
          and rowrelay.survives_json(t.typelem) then
          'pg_catalog.array_lower(%1$s, 1) operator(pg_catalog.<>) 1 or pg_catalog.array_lower(%1$s, 2) '
          'operator(pg_catalog.<>) 1 '
          'or pg_catalog.array_lower(%1$s, 3) operator(pg_catalog.<>) 1 or pg_catalog.array_ndims(%1$s) '
          'operator(pg_catalog.>) 3'
        -- not "is not null", which is about a record's fields; nor is = looked up here
        when not rowrelay.survives_json(t.oid) then '%1$s is distinct from null'
      end) as c(condition)
   where r.oid = relation and c.condition is not null
   order by a.place
$$;
