-- Whether a mirror that was created like its table can give way to a row that it refuses: it can do without a NOT NULL,
-- and without a CHECK that was created with it. Gives no row: it cannot. What is changed waits a second at most for
-- those who read the table, because others wait behind it.
--   $1 name of the mirror; then what the error names: $2 schema and $3 table, perhaps a partition of it, $4 column,
--   $5 constraint, or null
-- Gives relax: what, statement
with mirror as (
  select to_regclass($1) as relation
), refusing as (
  select to_regclass(format('%I.%I', $2::text, $3::text)) as relation
), change as (
  select format('NOT NULL of column %I', a.attname) as what,
         format('%salter column %I drop not null',
                case when a.attidentity <> '' then format('alter column %I drop identity, ', a.attname) end,
                a.attname) as action
    from mirror m
    join pg_attribute a on a.attrelid = m.relation and a.attname = $4::text and a.attnotnull
   where $5::text is null
      or not exists (select from pg_constraint c
                      where c.conrelid = m.relation and c.conname = $5::text and c.contype = 'c')
  union all
  select format('CHECK %I', c.conname), format('drop constraint %I', c.conname)
    from mirror m
    join pg_constraint c on c.conrelid = m.relation and c.conname = $5::text and c.contype = 'c'
   where obj_description(c.oid, 'pg_constraint') like 'as at the source of rowrelay%'
)
select c.what,
       format('set local lock_timeout = ''1s''; alter table %s %s; set local lock_timeout = %L', $1::text, c.action,
              current_setting('lock_timeout')) as statement
  from mirror m, refusing r, change c
 where m.relation in (r.relation, pg_partition_root(r.relation));
