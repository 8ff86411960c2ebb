-- Before anything is changed, refuses an uninstall that would drop what people have made of the schema: views,
-- functions and columns outside it, with their data. The triggers of captured tables are rowrelay's own.
do $$
declare
  names pg_catalog.text;
begin
  with own as (
    select 'pg_catalog.pg_class'::pg_catalog.regclass as classid, c.oid from pg_catalog.pg_class c
     where c.relnamespace = pg_catalog.to_regnamespace('rowrelay')
    union all
    select 'pg_catalog.pg_type'::pg_catalog.regclass, t.oid from pg_catalog.pg_type t
     where t.typnamespace = pg_catalog.to_regnamespace('rowrelay')
    union all
    select 'pg_catalog.pg_proc'::pg_catalog.regclass, p.oid from pg_catalog.pg_proc p
     where p.pronamespace = pg_catalog.to_regnamespace('rowrelay')
  ), dependent as (
    -- a view depends by its rule
    select distinct case when r.oid is not null then 'pg_catalog.pg_class'::pg_catalog.regclass else d.classid end
                      as classid,
           coalesce(r.ev_class, d.objid) as objid, case when r.oid is null then d.objsubid else 0 end as objsubid
      from own o
      join pg_catalog.pg_depend d on d.refclassid = o.classid and d.refobjid = o.oid and d.deptype = 'n'
      left join pg_catalog.pg_rewrite r on d.classid = 'pg_catalog.pg_rewrite'::pg_catalog.regclass and r.oid = d.objid
      left join pg_catalog.pg_trigger t on d.classid = 'pg_catalog.pg_trigger'::pg_catalog.regclass and t.oid = d.objid
     where t.oid is null or t.tgname not like '!rowrelay%'
  )
  select pg_catalog.string_agg(i.type || ' ' || i.identity, ', ' order by i.type, i.identity) into names
    from dependent d
    left join own o on o.classid = d.classid and o.oid = d.objid
    cross join lateral pg_catalog.pg_identify_object(d.classid, d.objid, d.objsubid) as i
   where o.oid is null and coalesce(i.schema, '') <> 'rowrelay' and i.identity not like '% rowrelay.%';
  if names is not null then
    raise exception 'what is not of rowrelay depends on schema rowrelay, and would be dropped with it: %', names
      using errcode = 'dependent_objects_still_exist', detail = 'Nothing was changed.',
            hint = 'Drop or alter these first, then uninstall again.';
  end if;
end
$$;
