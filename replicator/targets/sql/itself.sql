-- Whether a table of the target is one of some captured tables, because the target is the source. Also true when one of
-- the two is a partition, an inheritance child or a view of the other.
--   $1 which database the source is (source_identity.sql)  $2 the captured tables, an array  $3 the table in the target
with recursive captured(relation) as (
  select to_regclass(t.name)::oid
    from unnest($2::text[]) as t(name)
   where $1 = (select concat((date_part('epoch', pg_postmaster_start_time()) * 1000000)::bigint, ' ', d.oid)
                 from pg_database d where d.datname = current_database())
  union
  select i.inhrelid from captured c join pg_inherits i on i.inhparent = c.relation
), written(relation) as (
  select to_regclass($3)::oid
  union
  select u.relation
    from written w
   cross join lateral (
     select i.inhrelid as relation from pg_inherits i where i.inhparent = w.relation
     union all
     select d.refobjid
       from pg_class v
       join pg_rewrite r on r.ev_class = v.oid
       join pg_depend d on d.classid = 'pg_rewrite'::regclass and d.objid = r.oid
        and d.refclassid = 'pg_class'::regclass and d.refobjid <> v.oid
      where v.oid = w.relation and v.relkind = 'v') as u
)
select exists (select from captured c join written w on w.relation = c.relation);
