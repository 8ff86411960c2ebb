-- Purpose:    returns which columns of tables a view uses, directly or through other views
-- Parameters: the view
-- Result:     {"oid of a table": [numbers of columns]}; all columns of each table where the view uses a whole row
create or replace function rowrelay.columns_read(of_view regclass) returns jsonb
language sql stable as $$
  with recursive reads(relation) as (
    select of_view::oid
    union
    select d.refobjid
      from reads
      join pg_class c on c.oid = reads.relation and c.relkind = 'v'
      join pg_rewrite w on w.ev_class = c.oid
      join pg_depend d on d.classid = 'pg_rewrite'::regclass and d.objid = w.oid
       and d.refclassid = 'pg_class'::regclass and d.refobjid <> c.oid
  ), rule as (
    select w.oid, w.ev_action::text ~ ':varattno 0 ' as has_whole_rows
      from reads r
      join pg_class c on c.oid = r.relation and c.relkind = 'v'
      join pg_rewrite w on w.ev_class = c.oid
  ), used as (
    select a.attrelid, a.attnum
      from rowrelay.read_tables(of_view) as t(relation)
      join pg_attribute a on a.attrelid = t.relation and a.attnum > 0 and not a.attisdropped
     where exists (select from rule where has_whole_rows)
        or exists (select from rule join pg_depend d on d.classid = 'pg_rewrite'::regclass and d.objid = rule.oid
                    where d.refclassid = 'pg_class'::regclass and d.refobjid = a.attrelid and d.refobjsubid = a.attnum)
  )
  select coalesce(jsonb_object_agg(t.relation::oid,
                                   coalesce((select jsonb_agg(u.attnum order by u.attnum) from used u
                                              where u.attrelid = t.relation), '[]')), '{}')
    from rowrelay.read_tables(of_view) as t(relation)
$$;
