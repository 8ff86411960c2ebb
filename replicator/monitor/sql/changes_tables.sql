-- What tables are to the present role, in the order of their ids; null: there is none of that name.
--   $1 names, an array
-- Gives listened: name, relation, is_captured, may_read
select n.name,
       to_regclass(n.name)::oid as relation,
       exists (select from rowrelay.capture c where c.relation = to_regclass(n.name)) as is_captured,
       coalesce(rowrelay.may_read(to_regclass(n.name)), false) as may_read
  from unnest($1::text[]) as n(name)
 order by 2;
