-- Purpose:    lists the tables in which the delete of a row would delete or update rows (ON DELETE CASCADE, SET NULL,
--             SET DEFAULT)
-- Parameters: relation; names of the referenced row and of the one that refers, in the statement
-- Result:     table; condition
create or replace function rowrelay.rows_that_would_follow(relation regclass, row_name text, child_name text,
                                                           out child regclass, out condition text) returns setof record
language sql stable set search_path = pg_catalog, pg_temp as $$
  select k.conrelid::regclass,
         (select string_agg(format('%I.%I = %I.%I', child_name, c.attname, row_name, p.attname), ' and '
                            order by u.position)
            from unnest(k.conkey, k.confkey) with ordinality as u(child_number, parent_number, position)
            join pg_attribute c on c.attrelid = k.conrelid and c.attnum = u.child_number
            join pg_attribute p on p.attrelid = k.confrelid and p.attnum = u.parent_number)
           -- a row may refer to itself
           || case when k.conrelid = relation
             then format(' and (%1$I.tableoid, %1$I.ctid) <> (%2$I.tableoid, %2$I.ctid)', child_name, row_name)
                   else '' end
    from pg_constraint k
   where k.contype = 'f' and k.confrelid = relation and k.confdeltype in ('c', 'n', 'd')
     -- the constraint of the partitioned table stands for those of its partitions
     and not exists (select from pg_constraint w where w.oid = k.conparentid and w.confrelid = k.confrelid)
$$;
