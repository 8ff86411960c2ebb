-- Purpose:    returns what a table has beyond its columns, types and key, of which a mirror that is created with
--             create_like => 'full' gets what lets it take every row that the table has
-- Parameters: capture; mirror: name of the table there, for hints
-- Result:     in the order in which they are created: kind: collation, not null, identity, default, check, comment of
--               a column, comment of the table, partitioned, partition, comment of a partition, comment of a
--               partition's column; name: of the column or CHECK, of a partition and its column as they are called
--               there; definition
--             left_out: why a mirror does not get it, null: it does; kind and name are then for people, and hint says
--               what to do there
create or replace function rowrelay.mirror_parts(capture rowrelay.capture, mirror text)
  returns table (kind text, name text, definition text, left_out text, hint text)
language plpgsql stable set search_path = pg_catalog, pg_temp set standard_conforming_strings = on
  set datestyle = 'ISO, MDY' set intervalstyle = 'postgres' set extra_float_digits = 1 set quote_all_identifiers = off
as $$ -- rather than SQL, because its plan is kept
#variable_conflict use_column
begin
  return query
  with present as (
    select a.attnum, a.attname::text as name, a.attnotnull, a.attgenerated, a.attidentity, a.atttypid, a.atttypmod,
           a.attcollation, i.masks::jsonb ? a.attname::text as is_masked, a.attnum = any (capture.key_columns) as in_key
      from pg_attribute a
      cross join rowrelay.image_columns(capture) as i
     where a.attrelid = capture.relation and a.attnum > 0 and not a.attisdropped
       and a.attname::text <> all (i.leave_out) and (i.keep is null or a.attname::text = any (i.keep))
  ), initial as (
    select p.name, p.attnum, p.attnotnull, p.attgenerated, p.atttypid, p.is_masked, d.oid as definition, d.adbin,
           pg_get_expr(d.adbin, d.adrelid) as expression, s.oid as sequence
      from present p
      left join pg_attrdef d on d.adrelid = capture.relation and d.adnum = p.attnum
      left join lateral (
        -- of an identity column, or of nextval() as the whole default
        select e.objid as oid
          from pg_depend e
         where p.attidentity <> '' and e.refclassid = 'pg_class'::regclass and e.refobjid = capture.relation
           and e.refobjsubid = p.attnum and e.classid = 'pg_class'::regclass and e.deptype = 'i'
         union all
        select e.refobjid
          from pg_depend e
          join pg_class c on c.oid = e.refobjid and c.relkind = 'S'
         where e.classid = 'pg_attrdef'::regclass and e.objid = d.oid and e.refclassid = 'pg_class'::regclass
           and pg_get_expr(d.adbin, d.adrelid) ~ '^nextval[(]''[^()]+''::regclass[)]$'
         limit 1) as s on true
     where d.oid is not null or p.attidentity <> ''
  ), checked as (
    select c.conname::text as name, c.oid, c.conbin, c.convalidated, c.connoinherit,
           (select min(a.attname) from pg_attribute a
             where a.attrelid = capture.relation and a.attnum = any (c.conkey)
               and not exists (select from present p where p.attnum = a.attnum and not p.is_masked)) as hidden
      from pg_constraint c
     where c.conrelid = capture.relation and c.contype = 'c'
  ), indexed as (
    -- but for the key, on which the mirror has its primary key
    select c.oid, c.relname::text as name, x.indisunique, x.indisexclusion, pg_get_indexdef(x.indexrelid) as definition,
           format('CREATE %sINDEX %I ON %s%s USING ', case when x.indisunique then 'UNIQUE ' end, c.relname,
                  case when to_jsonb(t) ->> 'relkind' = 'p' then 'ONLY ' end, rowrelay.full_name(t.oid)) as head,
           exists (select from pg_depend d
                    where d.classid = 'pg_class'::regclass and d.objid = x.indexrelid
                      and d.refclassid = 'pg_class'::regclass and d.refobjid = capture.relation and d.refobjsubid > 0
                      and d.refobjsubid not in (select p.attnum from present p)) as is_partly_hidden
      from pg_index x
      join pg_class c on c.oid = x.indexrelid
      join pg_class t on t.oid = x.indrelid
     where x.indrelid = capture.relation
       and not (x.indisunique and x.indpred is null and x.indexprs is null
                and (select array_agg(u.n order by u.n)
                       from unnest(x.indkey::smallint[]) with ordinality as u(n, place)
                      where u.place <= x.indnkeyatts)
                    = (select array_agg(k order by k) from unnest(capture.key_columns) as k))
  ), divided as (
    select t.relid as relation, t.parentrelid as parent, t.level, c.relkind = 'p' as is_divided, c.relname::text as own,
           pg_get_expr(c.relpartbound, c.oid) as bound,
           -- in the mirror's schema, and behind the mirror's name where that is not the table's
           case when t.level = 0 then mirror
                else format('%s%I', (select quote_ident(m.parts[1]) || '.' where cardinality(m.parts) = 2),
                            (concat(case when m.own <> root.relname then m.own || '_' end,
                                    case when c.relnamespace <> root.relnamespace then s.nspname || '_' end,
                                    c.relname))::name) end as there
      from pg_partition_tree(capture.relation) t
      join pg_class c on c.oid = t.relid
      join pg_namespace s on s.oid = c.relnamespace
      join pg_class root on root.oid = capture.relation
      cross join lateral (select n as parts, n[cardinality(n)] as own from parse_ident(mirror) as n) as m
     where root.relkind = 'p'
  ), undivided as (
    -- why the mirror is not partitioned
    select coalesce(
             (select format('they depend on %s', pg_describe_object(e.refclassid, e.refobjid, 0))
                from pg_depend e
               where e.classid = 'pg_class'::regclass and e.objid = d.relation and e.objsubid = 0
                 and e.refclassid in ('pg_proc'::regclass, 'pg_operator'::regclass, 'pg_opclass'::regclass,
                                      'pg_collation'::regclass)
               order by 1 limit 1),
             (select format('column %s is masked or not captured', min(a.attname))
                from pg_attribute a
               where a.attrelid = d.relation and a.attnum = any (b.columns)
                 and not exists (select from present p where p.name = a.attname and not p.is_masked)
              having count(*) > 0)) as reason
      from divided d
      cross join lateral (
        -- of what it is partitioned by
        select array_agg(e.objsubid) as columns
          from pg_depend e
         where e.classid = 'pg_class'::regclass and e.objid = d.relation and e.objsubid > 0 and e.deptype = 'i'
           and e.refclassid = 'pg_class'::regclass and e.refobjid = d.relation and e.refobjsubid = 0) as b
     where d.is_divided
  ), part(place, kind, name, definition, left_out, hint) as (
    select 1, 'collation', p.name,
           format('%s collate %I.%I', format_type(p.atttypid, p.atttypmod), n.nspname, c.collname),
           case when c.oid >= 16384 then format('collation %I.%I is not PostgreSQL''s own', n.nspname, c.collname) end,
           format('Create the collation there, then run there: alter table %s alter %I type %s collate %I.%I;',
                  mirror, p.name, format_type(p.atttypid, p.atttypmod), n.nspname, c.collname)
      from present p
      join pg_type t on t.oid = p.atttypid
      join pg_collation c on c.oid = p.attcollation
      join pg_namespace n on n.oid = c.collnamespace
     where p.attcollation <> t.typcollation
    union all
    select 2, 'not null', p.name, '',
           case when p.is_masked then 'its values are masked'
                when exists (select from pg_constraint c
                              where c.conrelid = capture.relation and c.contype = 'n' and p.attnum = any (c.conkey)
                                and not c.convalidated) then 'it is not valid for rows that were there before it' end,
           null
      from present p where p.attnotnull and not p.in_key
    union all
    select 3, 'identity', i.name,
           format('(increment by %s minvalue %s maxvalue %s start with %s cache %s%s)', q.seqincrement,
                  greatest(q.seqmin, b.least), least(q.seqmax, b.most), q.seqstart, q.seqcache,
                  case when q.seqcycle then ' cycle' end),
           case when i.is_masked then 'its values are masked'
                when b.most is null then 'an identity column must be smallint, integer or bigint'
                when not i.attnotnull then 'an identity column must be NOT NULL' end,
           null
      from initial i
      join pg_sequence q on q.seqrelid = i.sequence
      left join (values ('int2'::regtype, -32768, 32767), ('int4', -2147483648, 2147483647),
                        ('int8', -9223372036854775808, 9223372036854775807)) as b(type, least, most)
        on b.type = i.atttypid
    union all
    select 4, case when i.attgenerated <> '' then 'generated column' else 'default' end, i.name, i.expression,
           case when i.attgenerated <> '' then 'its values come from here, into a plain column'
                else rowrelay.expression_obstacle('pg_attrdef', i.definition, capture.relation, i.adbin::text,
                                                  false) end,
           null
      from initial i where i.sequence is null
    union all
    select 5, 'check', c.name, pg_get_constraintdef(c.oid),
           case when not c.convalidated then 'it is not valid for rows that were there before it'
                when c.connoinherit and rowrelay.has_children(capture.relation)
                  then 'rows of inheritance children need not meet it'
                when c.hidden is not null then format('column %s is masked or not captured', c.hidden)
                else rowrelay.expression_obstacle('pg_constraint', c.oid, capture.relation, c.conbin::text, true) end,
           null
      from checked c
    union all
    select 6, 'comment of a column', p.name, d.description, null, null
      from pg_description d
      join present p on p.attnum = d.objsubid
     where d.classoid = 'pg_class'::regclass and d.objoid = capture.relation and d.objsubid > 0
    union all
    select 7, 'comment of the table', '', d.description, null, null
      from pg_description d
     where d.classoid = 'pg_class'::regclass and d.objoid = capture.relation and d.objsubid = 0
    union all
    select 8, case when x.indisexclusion then 'exclusion constraint' when x.indisunique then 'unique index'
                   else 'index' end, x.name, x.definition,
           case when x.indisunique or x.indisexclusion
                then 'rows arrive in several lanes, and may conflict until all have arrived'
                else 'delivering and copying is faster without it' end,
           case when not x.is_partly_hidden and starts_with(x.definition, x.head)
                then format('If queries there need it, run there once rows are copied: CREATE INDEX ON %s USING %s;',
                            mirror, substr(x.definition, length(x.head) + 1)) end
      from indexed x
    union all
    -- an index that a partition has of its own
    select 8, case when x.indisexclusion then 'exclusion constraint' when x.indisunique then 'unique index'
                   else 'index' end || ' of a partition', c.relname, null,
           case when x.indisunique or x.indisexclusion
                then 'rows arrive in several lanes, and may conflict until all have arrived'
                else 'delivering and copying is faster without it' end, null
      from divided d
      join pg_index x on x.indrelid = d.relation
      join pg_class c on c.oid = x.indexrelid
     where d.level > 0 and not c.relispartition
    union all
    -- of the key's index, which a mirror has; that of another one is left out with it
    select distinct 8, 'comment of index', c.relname, null, 'the index of the key has a name of its own there', null
      from (select capture.relation as relation union select d.relation from divided d) as r
      join pg_index x on x.indrelid = r.relation
      join pg_class c on c.oid = x.indexrelid
      left join pg_constraint k on k.conindid = c.oid and k.conrelid = r.relation
      join pg_description d on (d.classoid, d.objoid) in (('pg_class'::regclass, c.oid),
                                                          ('pg_constraint'::regclass, k.oid))
     where exists (select from pg_index key
                    where key.indrelid = capture.relation
                      and key.indexrelid = case when r.relation = capture.relation then c.oid
                                                else pg_partition_root(c.oid) end
                      and key.indexrelid not in (select i.oid from indexed i))
    union all
    select 9, 'foreign key', c.conname, null, 'rows of different tables arrive in any order', null
      from pg_constraint c
     where c.conrelid = capture.relation and c.contype = 'f'
    union all
    select distinct 10, 'constraints of domain', format_type(t.oid, null), null, 'the source checks the values', null
      from present p
      join pg_type t on t.oid = p.atttypid
     where t.typtype = 'd' and (t.typnotnull or exists (select from pg_constraint c where c.contypid = t.oid))
    union all
    select distinct 11, 'type', format_type(t.oid, null), null, format('extension %I has it', e.extname),
           format('Before the first row is delivered, run there: create extension if not exists %I;', e.extname)
      from present p
      join pg_depend d on d.classid = 'pg_type'::regclass and d.objid = p.atttypid and d.deptype = 'e'
      join pg_extension e on e.oid = d.refobjid
      join pg_type t on t.oid = p.atttypid
    union all
    select 12, 'partitions of', d.own, null, (select min(u.reason) from undivided u), null
      from divided d where d.level = 0 and exists (select from undivided u where u.reason is not null)
    union all
    select 13 + d.level, case d.level when 0 then 'partitioned' else 'partition' end,
           case d.level when 0 then '' else d.there end,
           concat(case when d.level > 0 then format('partition of %s %s', p.there, d.bound) end,
                  case when d.is_divided then format(' partition by %s', pg_get_partkeydef(d.relation)) end),
           null, null
      from divided d
      left join divided p on p.relation = d.parent
     where not exists (select from undivided u where u.reason is not null)
    union all
    -- behind all partitions; of a column, with its name
    select 1000000, case d.objsubid when 0 then 'comment of a partition' else 'comment of a partition''s column' end,
           concat(p.there, '.' || quote_ident(a.attname)), d.description, null, null
      from divided p
      join pg_description d on d.classoid = 'pg_class'::regclass and d.objoid = p.relation
      left join pg_attribute a on a.attrelid = p.relation and a.attnum = d.objsubid and d.objsubid > 0
     where p.level > 0 and not exists (select from undivided u where u.reason is not null)
       and (a.attname is null or a.attname::text in (select w.name from present w))
  )
  select p.kind, p.name, p.definition, p.left_out, case when p.left_out is not null then p.hint end
    from part p
   order by p.place, p.name;
end
$$;
