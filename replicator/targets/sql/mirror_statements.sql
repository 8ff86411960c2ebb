-- The statements that keep a table like its source, for rows that have these columns. It reads the target's catalogs,
-- and gives whether the table is there; columns that it lacks; whether the source has one of these now; a column that
-- cannot be updated; whether the rows have the whole key; whether the key is unique in the target; then the statements.
-- Their $1 is a JSON array of objects, one for each row.
-- A column that neither side has now is left out if the rows have all columns that the source has now: it was dropped
-- there since, and not renamed. So is one that is left out of later rows.
--   $1 table  $2 names of the columns that rows have, JSON array  $3 names of the key's columns, JSON array
--   $4 names of json columns whose value is a string of JSON text, JSON array; null: none
--   $5 names of the columns that the source has now, JSON array; null: not known
--   $6 names of the columns that it has and that are left out now, JSON array; null: none, or not known
--   $7 [{"name", "older_have": value in rows that are older than the column, or null, "older_names": names that
--      rows without it may have}] of the source's columns; null: not known
--   $8 whether the target has a fence
-- Gives mirror: exists, missing, missing_at_source, fixed, key_is_known, key_is_unique, insert, upsert, delete_by_key,
--   delete_rows, delete_rows_takes, truncate
with target as (
  -- the name with its schema, because a table may be called like a type: null::line is not of table line
  select wanted.relation,
         (select format('%I.%I', n.nspname, c.relname) from pg_class c join pg_namespace n on n.oid = c.relnamespace
           where c.oid = wanted.relation) as name
    from (select to_regclass($1) as relation) as wanted
), known as (
  select j.name, j.position, a.attnum, a.attgenerated = '' as writable, a.attidentity = 'a' as identity,
         format_type(a.atttypid, a.atttypmod) as type,
         j.name in (select json_array_elements_text($3::json)) as in_key,
         j.name in (select json_array_elements_text($4::json)) as as_text,
         j.name in (select json_array_elements_text($5::json)) as at_source,
         j.name in (select json_array_elements_text($6::json)) as is_hidden,
         -- equal values of others may differ all the same, as "Ann" and "ann" do in citext: the row gets what it is now
         a.attidentity = ''
         and not (a.atttypid = any ('{int2,int4,int8,oid,uuid,text,varchar,name,bool,bytea,date,timestamp,timestamptz,
                                      time}'::regtype[])
                  and not exists (select from pg_collation c
                                   where c.oid = a.attcollation and not c.collisdeterministic))
           as is_spelled
    from target t
    cross join json_array_elements_text($2::json) with ordinality as j(name, position)
    left join pg_attribute a on a.attrelid = t.relation and a.attname = j.name and a.attnum > 0 and not a.attisdropped
), lists as (
  select string_agg(format('%I', k.name), ', ' order by k.position) filter (where k.writable) as names,
         string_agg(case when k.as_text then format('(i.image ->> %L)::%s', k.name, k.type)
                         else format('r.%I', k.name) end, ', ' order by k.position)
           filter (where k.writable) as expressions,
         string_agg(format('x.%I', k.name), ', ' order by k.position) filter (where k.writable) as own,
         string_agg(format('%I = excluded.%I', k.name, k.name), ', ' order by k.position)
           filter (where k.writable and (not k.in_key or k.is_spelled)) as assignments,
         string_agg(format('%I', k.name), ', ' order by k.position)
           filter (where k.attnum is null and not k.is_hidden and not (d.is_whole and not k.at_source)) as missing,
         bool_or(k.at_source) filter (where k.attnum is null) as missing_at_source,
         min(format('%I', k.name)) filter (where k.identity and not k.in_key) as fixed,
         bool_or(k.as_text) as any_text
    from known k
    cross join (
      select $5::json is not null
             and not exists (select json_array_elements_text($5::json) except select json_array_elements_text($2::json))
             as is_whole) as d
), older as (
  -- What rows had in columns that were added after them. A name that may be the column's former one has its value.
  select string_agg(format('%I', w.name), ', ' order by w.name) as names,
         string_agg(format('%L::%s', w.older_have, format_type(a.atttypid, a.atttypmod)), ', ' order by w.name)
           as expressions,
         string_agg(format('x.%I', w.name), ', ' order by w.name) as own,
         string_agg(format('%I = excluded.%I', w.name, w.name), ', ' order by w.name) as assignments
    from target t
    cross join json_to_recordset($7::json) as w(name text, older_have text, older_names json)
    join pg_attribute a on a.attrelid = t.relation and a.attname = w.name and a.attnum > 0 and not a.attisdropped
                       and a.attgenerated = '' and a.attidentity <> 'a'
   where w.older_have is not null
     and w.name not in (select json_array_elements_text($2::json))
     and not exists (select json_array_elements_text($2::json) except select json_array_elements_text(w.older_names))
), key as (
  -- by each type's own equality, wherever its operator is; those of all enums, for one, refuse a domain over an enum
  select string_agg(format('%I', k), ', ') as names,
         string_agg(format('t.%I%s operator(%s) %s', k, b.cast_to, coalesce(e.operator, 'pg_catalog.='),
                           -- a key is never null, so a null there is one of JSON
                           case when w.as_text then format('(i.image ->> %L)::%s', k, format_type(b.oid, -1))
                                when b.oid = 'jsonb'::regtype then format('(i.image -> %L)::text::pg_catalog.jsonb', k)
                                else format('k.%I%s', k, b.cast_to) end),
                    ' and ') as matches,
         bool_or(w.as_text or b.oid = 'jsonb'::regtype) as in_image,
         array_agg(k order by k) as sorted
    from target t
    cross join json_array_elements_text($3::json) as k
    left join pg_attribute a on a.attrelid = t.relation and a.attname = k and a.attnum > 0 and not a.attisdropped
    left join lateral (
      with recursive part as (
        select y.oid, y.typtype, y.typbasetype from pg_type y where y.oid = a.atttypid
        union all
        select y.oid, y.typtype, y.typbasetype from part p join pg_type y on p.typtype = 'd' and y.oid = p.typbasetype
      )
      select p.oid, case when p.oid <> a.atttypid then '::' || format_type(p.oid, -1) end as cast_to
        from part p where p.typtype <> 'd') as b on true
    cross join lateral (
      select exists (select from json_array_elements_text($4::json) as x(name) where x.name = k) as as_text) as w
    left join lateral (
      select format('%I.%s', n.nspname, o.oprname) as operator
        from pg_opclass c
        join pg_amop p on p.amopfamily = c.opcfamily and p.amoplefttype = c.opcintype and p.amoprighttype = c.opcintype
                      and p.amopstrategy = 3
        join pg_operator o on o.oid = p.amopopr
        join pg_namespace n on n.oid = o.oprnamespace
       where c.opcmethod = (select m.oid from pg_am m where m.amname = 'btree') and c.opcdefault
         and c.opcintype = b.oid) as e on true
), source_rows as (
  -- a value that stands in a string of JSON text is taken out of the image itself
  select case when l.any_text
           then format('json_array_elements($1::json) as i(image) '
                       'cross join lateral json_populate_record(null::%s, i.image) as r', t.name)
           else format('json_populate_recordset(null::%s, $1::json) as r', t.name) end as text
    from target t, lists l
), unfound as (
  select case when exists (select from pg_rewrite r where r.ev_class = t.relation and r.ev_type = '4') then 1
              when $8::boolean then 6
              else 2 end as takes
    from target t
)
select t.relation is not null as exists,
       l.missing,
       $5::json is null or coalesce(l.missing_at_source, false) as missing_at_source,
       l.fixed,
       not exists (select json_array_elements_text($3::json) except select json_array_elements_text($2::json))
         as key_is_known,
       exists (select from pg_index i
                where i.indrelid = t.relation and i.indisunique and i.indisvalid and i.indimmediate
                  and i.indpred is null and i.indexprs is null
                  and k.sorted = (select array_agg(a.attname::text order by a.attname::text)
                                    from unnest(i.indkey::smallint[]) with ordinality as u(n, position)
                                    join pg_attribute a on a.attrelid = t.relation and a.attnum = u.n
                                   where u.position <= i.indnkeyatts)) as key_is_unique,
       case when coalesce(l.names, o.names) is null
            then format('insert into %s select from json_array_elements($1::json)', t.name)
            else format('insert into %s (%s) overriding system value select %s from %s', t.name,
                        concat_ws(', ', l.names, o.names), concat_ws(', ', l.expressions, o.expressions), s.text)
       end as insert,
       format('insert into %s (%s) overriding system value select %s from %s on conflict (%s) do %s', t.name,
              concat_ws(', ', l.names, o.names), concat_ws(', ', l.expressions, o.expressions), s.text, k.names,
              coalesce('update set ' || nullif(concat_ws(', ', l.assignments, o.assignments), ''), 'nothing'))
         as upsert,
       format(case when k.in_image
                   then 'delete from %1$s as t using json_array_elements($1::json) as i(image) '
                        'cross join lateral json_populate_record(null::%1$s, i.image) as k where %2$s'
                   else 'delete from %1$s as t using json_populate_recordset(null::%1$s, $1::json) as k where %2$s'
              end, t.name, k.matches) as delete_by_key,
       -- of equal rows as many go as there are in $1; what the target has besides does not count, but those go first
       -- that have in a column what was there before it was. A row says that there were not so many: $2 is how many
       -- there are in $1, $3 the source, $4 the lane and $5 the change under which the fence has that, $6 as in
       -- fence_note.sql. Rules let nothing be counted.
       format(case u.takes when 1 then '%s' else 'with gone as (%s returning true) ' end
              || case u.takes
                   when 2 then 'select true where (select count(*) from gone) < $2::bigint'
                   when 6 then 'insert into rowrelay_target.fence as f (source, lane, token, applied) '
                               'select $3::uuid, $4::integer, 0, array[$5::bigint] '
                                'where (select count(*) from gone) < $2::bigint '
                               'on conflict (source, lane) do update set applied = '
                               'array(select a from unnest(f.applied) as a where a >= $6::bigint) || excluded.applied '
                               'returning true'
                   else '' end,
              format('delete from %1$s as t using ('
                       'select o.tableoid, o.ctid from ('
                         'select x.tableoid, x.ctid, row(%2$s)::text as image, '
                                'row_number() over (partition by row(%2$s)::text%5$s) as n from %1$s as x) as o '
                       'join (select row(%3$s)::text as image, count(*) as n from %4$s group by 1) as d '
                       'on d.image = o.image and o.n <= d.n) as v '
                     'where t.tableoid = v.tableoid and t.ctid = v.ctid', t.name, l.own, l.expressions, s.text,
                     ' order by row(' || o.own || ')::text = row(' || o.expressions || ')::text desc'))
         as delete_rows,
       u.takes as delete_rows_takes,
       -- TRUNCATE is refused where another table refers to this one
       case when exists (select from pg_constraint c where c.contype = 'f' and c.confrelid = t.relation)
            then format('delete from %s where true', t.name) else format('truncate %s', t.name) end as truncate
  from target t, lists l, older o, key k, source_rows s, unfound u;
