-- The full name of table $1; no row if there is no such relation.
select rowrelay.full_name(r)
  from (select rowrelay.table_named($1::text) as r) as t
 where r is not null;
