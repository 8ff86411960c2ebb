-- Whether a mirror that was created like its table can give way to a row that it refuses: it can do without a NOT
-- NULL, and without a CHECK that was created with it; and it gets the partitions that the table has got since, or a
-- default one where none of the table's takes the row. Gives no row: it cannot. What is changed waits a second at most
-- for those who read the table, because others wait behind it.
--   $1 name of the mirror; then what the error names: $2 schema and $3 table, perhaps a partition of it, $4 column,
--   $5 constraint, or null
--   $6 what else the mirror has, see mirror_create.sql  $7 the table at the source
-- Gives relax: what, statement
with mirror as (
  select to_regclass($1) as relation
), refusing as (
  select to_regclass(format('%I.%I', $2::text, $3::text)) as relation
), change as (
  select format('dropped its NOT NULL of column %I, which a row of %s does not meet', a.attname, $7::text) as what,
         format('alter table %s %salter column %I drop not null', $1::text,
                case when a.attidentity <> '' then format('alter column %I drop identity, ', a.attname) end,
                a.attname) as action
    from mirror m
    join pg_attribute a on a.attrelid = m.relation and a.attname = $4::text and a.attnotnull
   where $5::text is null
      or not exists (select from pg_constraint c
                      where c.conrelid = m.relation and c.conname = $5::text and c.contype = 'c')
  union all
  select format('dropped its CHECK %I, which a row of %s does not meet', c.conname, $7::text),
         format('alter table %s drop constraint %I', $1::text, c.conname)
    from mirror m
    join pg_constraint c on c.conrelid = m.relation and c.conname = $5::text and c.contype = 'c'
   where obj_description(c.oid, 'pg_constraint') like 'as at the source of rowrelay%'
  union all
  select format(case when p.wanted is null then 'added a default partition, because no partition of %s takes a row'
                     else 'added the partitions that %s has got since' end, $7::text),
         format('do %L', concat('declare left_out jsonb := ''[]''; begin ', p.wanted,
                                case when p.wanted is not null
                                     then 'perform set_config(''rowrelay.left_out'', left_out::text, false); '
                                          'if left_out = ''[]'' then return; end if; ' end,
                                format('create table %I.%I partition of %s default; end', $2::text,
                                       ($3::text || '_default')::name, r.relation::regclass)))
    from refusing r
    join pg_class c on c.oid = r.relation and c.relkind = 'p'
    cross join (
      select string_agg(
               format('begin create table %s %s;%s exception when others then '
                      'left_out := left_out || jsonb_build_object(''what'', %L, ''reason'', sqlerrm); end; ',
                      p.name, p.definition, p.comments, 'partition ' || p.name), '' order by p.position) as wanted
        from (select w.*,
                     (select string_agg(format(' comment on %s %s is %L;', case when c.name = w.name then 'table'
                                                                                else 'column' end,
                                               c.name, c.definition), '' order by c.name)
                        from json_to_recordset($6::json) as c (kind text, name text, definition text)
                       where c.kind = 'comment of a partition' and c.name = w.name
                          or c.kind = 'comment of a partition''s column' and starts_with(c.name, w.name || '.')
                     ) as comments
                from rows from (json_to_recordset($6::json) as (kind text, name text, definition text)) with ordinality
                       as w(kind, name, definition, position)) as p
       where case p.kind when 'partition' then to_regclass(p.name) is null end) as p
   where $4::text is null and $5::text is null
)
select c.what,
       format('set local lock_timeout = ''1s''; %s; set local lock_timeout = %L', c.action,
              current_setting('lock_timeout')) as statement
  from mirror m, refusing r, change c
 where m.relation in (r.relation, pg_partition_root(r.relation));
