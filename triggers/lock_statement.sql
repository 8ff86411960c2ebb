-- Purpose:    returns the statement that locks a table without its children. LOCK TABLE refuses a foreign table, but
--             not a table to which one belongs, with which it locks its siblings, too.
-- Parameters: relation; lock mode, as in LOCK TABLE
-- Result:     for a foreign table that belongs to no other, a statement that changes nothing and takes ACCESS EXCLUSIVE
create or replace function rowrelay.lock_statement(relation regclass, mode text) returns text
language sql stable as $$
  select case
    when f.ftrelid is null then format('lock table only %s in %s mode', relation, mode)
    else coalesce((select format('lock table %s in %s mode', min(i.inhparent)::regclass, mode)
                     from pg_inherits i where i.inhrelid = relation having count(*) > 0),
                  format('alter foreign table %s owner to %I', relation,
                         (select pg_get_userbyid(c.relowner) from pg_class c where c.oid = relation)))
    end
    from (values (1)) as one(row) left join pg_foreign_table f on f.ftrelid = relation
$$;
