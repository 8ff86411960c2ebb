-- All captured tables that still exist: oid, name.
select c.oid, c.oid::regclass::text
  from rowrelay.captures k
  join pg_class c on c.oid = k.relation
 order by c.oid::regclass::text;
