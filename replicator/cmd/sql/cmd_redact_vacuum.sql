-- Statements that free what the last redaction has overwritten, of tables that this user may vacuum. Autovacuum does
-- the others.
select format('vacuum (analyze, skip_locked) %s', c.oid::regclass)
  from pg_class c
 where pg_has_role(c.relowner, 'usage')
   and c.oid in (select h.tableoid from rowrelay.redaction r join rowrelay.change h on h.id = any (r.change_ids)
                  where r.id = (select max(n.id) from rowrelay.redaction n)
                 union all
                 select 'rowrelay.seal'::regclass);
