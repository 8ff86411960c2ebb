-- The files of the tables that document $1 is built from. If one was rewritten (ALTER TABLE, REPACK) or truncated while
-- a query ran, a STABLE function of that query, which reads by an older snapshot, saw it empty, without an error.
with recursive part(relation) as (
  select c.relation::oid
    from rowrelay.document_source s join rowrelay.capture c on c.id = s.capture
   where s.document = $1::integer
   union
  select i.inhrelid from part p join pg_inherits i on i.inhparent = p.relation
)
select string_agg(c.relfilenode::text, ' ' order by c.oid) from part p join pg_class c on c.oid = p.relation;
