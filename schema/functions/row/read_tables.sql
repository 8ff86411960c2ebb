-- Purpose:    returns the tables that a view reads, directly or through other views
-- Parameters: the view
-- Result:     tables, partitioned tables, foreign tables and materialized views, each once
create or replace function rowrelay.read_tables(of_view regclass) returns setof regclass
language sql stable rows 20 as $$
  with recursive reads(relation) as (
    select of_view::oid
    union
    select d.refobjid
      from reads
      join pg_class c on c.oid = reads.relation and c.relkind = 'v'
      join pg_rewrite w on w.ev_class = c.oid
      join pg_depend d on d.classid = 'pg_rewrite'::regclass and d.objid = w.oid
       and d.refclassid = 'pg_class'::regclass and d.refobjid <> c.oid
  )
  select reads.relation::regclass
    from reads join pg_class c on c.oid = reads.relation
   where c.relkind in ('r', 'p', 'f', 'm')
   order by 1
$$;
