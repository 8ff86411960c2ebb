-- The identities (server/database/oid, as target_routes.sql says them) that a change has in its path if it has passed
-- a table of the target: those of the table, of what is above it and below it, and of what a view shows.
-- Each of them has a blank before and behind it.
--   $1 the tables, an array
-- Gives passed: into_table, identities
with recursive below(name, relation) as (
  select t.name, to_regclass(t.name)::oid from unnest($1::text[]) as t(name)
  union
  select b.name, u.relation
    from below b
   cross join lateral (
     select i.inhrelid as relation from pg_inherits i where i.inhparent = b.relation
     union all
     select d.refobjid
       from pg_class v
       join pg_rewrite r on r.ev_class = v.oid
       join pg_depend d on d.classid = 'pg_rewrite'::regclass and d.objid = r.oid
        and d.refclassid = 'pg_class'::regclass and d.refobjid <> v.oid
      where v.oid = b.relation and v.relkind = 'v') as u
), above(name, relation) as (
  select b.name, b.relation from below b
  union
  select a.name, i.inhparent from above a join pg_inherits i on i.inhrelid = a.relation
)
select a.name as into_table,
       ' ' || string_agg((select c.system_identifier || '/' || d.oid
                            from pg_control_system() as c, pg_database d where d.datname = current_database())
                         || '/' || a.relation, ' ') || ' ' as identities
  from above a
 where a.relation is not null
 group by a.name;
