-- Purpose:    returns statements that create a table's column types in another database: user-defined types, in the
--             order of their dependencies. Types of extensions are left out, because the extension has to be installed
--             there.
-- Parameters: relation
-- Result:     [{"schema", "type": quoted name, "definition": CREATE statement, "labels": those of an enum, in order}]
create or replace function rowrelay.type_definitions(relation regclass) returns json
language sql stable as $$
  with recursive used(type, depth) as (
    select a.atttypid, 0 from pg_attribute a where a.attrelid = relation and a.attnum > 0 and not a.attisdropped
    union all
    select part.type, u.depth + 1
      from used u
      cross join lateral (
        select t.typelem from pg_type t where t.oid = u.type and t.typelem <> 0
        union all
        select t.typbasetype from pg_type t where t.oid = u.type and t.typtype = 'd'
        union all
        select a.atttypid from pg_type t join pg_attribute a on a.attrelid = t.typrelid
         where t.oid = u.type and t.typtype = 'c' and a.attnum > 0 and not a.attisdropped
        union all
        select r.rngsubtype from pg_range r where r.rngtypid = u.type
        union all
        select r.rngtypid from pg_range r where to_jsonb(r) ->> 'rngmultitypid' = u.type::text
      ) as part(type)
     where u.depth < 20
  ), own as (
    select t.oid, t.typname, t.typtype, t.typrelid, t.typbasetype, t.typtypmod, n.nspname, u.depth
      from (select type, max(depth) as depth from used group by type) as u
      join pg_type t on t.oid = u.type
      join pg_namespace n on n.oid = t.typnamespace
     where t.oid >= 16384 and t.typtype in ('e', 'c', 'd', 'r')
       and not exists (select from pg_depend d where d.classid = 'pg_type'::regclass and d.objid = t.oid
                       and d.deptype = 'e')
  )
  select json_agg(json_build_object('schema', o.nspname, 'type', format('%I.%I', o.nspname, o.typname), 'definition',
           case o.typtype
             when 'e' then format('create type %I.%I as enum (%s)', o.nspname, o.typname,
               (select string_agg(quote_literal(e.enumlabel), ', ' order by e.enumsortorder) from pg_enum e
                where e.enumtypid = o.oid))
             when 'c' then format('create type %I.%I as (%s)', o.nspname, o.typname,
               (select string_agg(format('%I %s', a.attname, format_type(a.atttypid, a.atttypmod)), ', '
                                  order by a.attnum)
                  from pg_attribute a where a.attrelid = o.typrelid and a.attnum > 0 and not a.attisdropped))
             -- without its constraints: the source checks the values
             when 'd' then format('create domain %I.%I as %s', o.nspname, o.typname,
                                  format_type(o.typbasetype, o.typtypmod))
             else (select format('create type %I.%I as range (subtype = %s)', o.nspname, o.typname,
                                 format_type(r.rngsubtype, null))
                     from pg_range r where r.rngtypid = o.oid)
           end, 'labels',
           (select json_agg(e.enumlabel order by e.enumsortorder) from pg_enum e where e.enumtypid = o.oid))
           order by o.depth desc, o.oid)
    from own o
$$;
