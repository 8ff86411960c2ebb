-- Purpose:    lists the tables that are or were captured, for users who may read some of the log but not
--             rowrelay.capture
-- Result:     each once: the table; its full name, for one that is gone its last name; whether it is gone
create or replace function rowrelay.logged_tables() returns table (relation oid, relation_name text, is_gone boolean)
language sql stable security definer set search_path = pg_catalog, pg_temp as $$
  select distinct on (c.relation) c.relation::oid, coalesce(n.name, c.relation_name), n.name is null
    from rowrelay.capture c
    cross join lateral rowrelay.full_name(c.relation) as n (name)
   where not exists (select from rowrelay.document d where d.capture = c.id)
   order by c.relation, c.id desc
$$;
