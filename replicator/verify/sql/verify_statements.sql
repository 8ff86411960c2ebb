-- The statements that compare one side of a table. Each reads the table under the name new. In this order:
--   sum       number of rows and sum of their hashes
--   buckets   the same for each bucket that has rows; a row is in the bucket of its key's hash (without a key: its own)
--   rows      key and hash of each row; without a key: hash and number of equal rows
--   boundary  the last key of the next so many rows
--   lookup    what certain rows are now; see below
-- Where rows can be read in order of the key, the first four are for a range: $1 the key after which it begins, $2 its
-- last key (null: no bound). Keys are JSON arrays of texts. Otherwise the first three are for a range of blocks: $1 its
-- first row, $2 the first row after it, in the same form. Further parameters:
--   buckets   $3 number of buckets less one; the number is a power of two
--   rows      $3 as before, $4 which buckets; null: all
--   boundary  $1 as before, $2 how many rows
--   lookup    $1 JSON array of keys (of hashes without a key); at the source also $2 an id, $3 a snapshot, $4 JSON
--             array of keys. Gives for each: its number (the hash); a text for each column, or how many there are; at
--             the source also the key as the log has it (the row), whether its key is in $4 or has a change after $2
--             that $3 does not see, and the target's message if it has refused a change. A key with null in it has none
--             in the log.
-- Parameters of this query:
--   $1 plan by verify_target.sql
--   $2 a text that stands between columns, and with ! for null: nobody may know it, or rows could be made to look alike
--   $3 whether md5 is the only hash function on which the servers agree
--   $4 whether values that the target's types cannot have must not fail the statements
-- Gives comparing: sum, buckets, rows, boundary, lookup, keys
with plan as (
  select d.doc, d.doc ->> 'relation' as relation, (d.doc ->> 'capture')::integer as capture,
         (d.doc ->> 'target')::integer as target, d.doc ->> 'key_text' as key_text, d.doc ->> 'row_hash' as row_hash,
         ' and (' || (d.doc ->> 'filter') || ')' as filter,
         case when $3::boolean then format('(''x'' || substr(md5(%s), 1, 16))::bit(64)::bigint',
                                          case when getdatabaseencoding() in ('UTF8', 'SQL_ASCII') then '%s'
                                               else 'convert_to((%s), ''UTF8'')' end)
              else 'hashtextextended((%s) collate "C", 0)' end as hash
    from (select $1::json as doc) as d
), compared as (
  select c.position, c.name, c.unchecked_type,
         format('coalesce((%s)::text, %L)', case when $4::boolean then coalesce(c.safe_value, c.value) else c.value end,
                $2::text || '!') as value
    from plan p, rows from (json_to_recordset(p.doc -> 'columns') as (value text, safe_value text, name text,
                                                                      unchecked_type text)) with ordinality
                              as c(value, safe_value, name, unchecked_type, position)
), part as (
  -- a function takes a hundred arguments at most
  select c.position / 50 as n,
         format('concat_ws(%L, %s)', $2::text, string_agg(c.value, ', ' order by c.position)) as text
    from compared c
   group by c.position / 50
), named as (
  select coalesce(string_agg(format('%I %s', c.name, c.unchecked_type), ', ' order by c.position), 'none text')
           as types,
         coalesce(bool_or(c.unchecked_type is null), false) as any_row
    from compared c
), column_hash as (
  select string_agg(format(p.hash, c.value), ', ' order by c.position) as list
    from plan p, compared c
), row_text as (
  select case when count(*) = 0 then '''''' -- it has no columns, and all its rows are equal
              when count(*) = 1 then min(t.text)
              else format('concat_ws(%L, %s)', $2::text, string_agg(t.text, ', ' order by t.n)) end as text
    from part t
), key_column as (
  select k.name, k.type, k.position,
         -- a cast of somebody's type would be that person's code
         format(case when base.oid = 'numeric'::regtype then 'trim_scale(new.%I)::text'
                     when base.oid < 16384 then 'new.%I::text'
                     else 'concat(new.%I)' end, k.name) as text,
         case
           when base.oid < 16384 then format('(w.parts ->> %s)::%s as %I', k.position - 1, k.type, k.name)
           when not checked.is_checked
             then format('(select r.k from json_to_record(json_build_object(''k'', w.parts -> %s)) as r(k %s)) as %I',
                         k.position - 1, k.type, k.name)
           -- reading it would run the CHECKs of its domains, so that its text has to do; parts of a key of several
           -- columns are of their type in the log
           when p.capture is not null and base.typcategory in ('A', 'C') and json_array_length(p.doc -> 'key') > 1
             then format('(select n.%1$I from %2$s as n where concat(n.%1$I) = w.parts ->> %3$s limit 1) as %1$I',
                         k.name, p.relation, k.position - 1)
           else format('(w.parts ->> %s) as %I', k.position - 1, k.name)
         end as wanted,
         -- operators of all enums, for one, refuse a domain over an enum
         case when checked.is_checked then format('concat(new.%I)', k.name)
              when base.oid = a.atttypid then format('new.%I', k.name)
              else format('(new.%I)::%s', k.name, format_type(base.oid, -1)) end as value,
         checked.is_checked, a.attnotnull,
         -- not every type's own = is where everybody finds it
         coalesce((select format('operator(%I.%s)', n.nspname, o.oprname)
                     from pg_opclass oc
                     join pg_amop ao on ao.amopfamily = oc.opcfamily and ao.amoplefttype = oc.opcintype
                                    and ao.amoprighttype = oc.opcintype and ao.amopstrategy = 3
                     join pg_operator o on o.oid = ao.amopopr
                     join pg_namespace n on n.oid = o.oprnamespace
                    where oc.opcmethod = (select oid from pg_am where amname = 'btree') and oc.opcdefault
                      and oc.opcintype = base.oid and oc.opcintype >= 10000 and not checked.is_checked),
                  'operator(pg_catalog.=)') as equals
    from plan p
    cross join rows from (json_to_recordset(p.doc -> 'key') as (name text, type text)) with ordinality
                           as k(name, type, position)
    join pg_attribute a on a.attrelid = to_regclass(p.relation) and a.attname = k.name and not a.attisdropped
    cross join lateral (
      with recursive part as (
        select t.oid, t.typtype, t.typbasetype from pg_type t where t.oid = a.atttypid
        union all
        select t.oid, t.typtype, t.typbasetype from part p join pg_type t on p.typtype = 'd' and t.oid = p.typbasetype
      )
      select p.oid, t.typcategory from part p join pg_type t on t.oid = p.oid where p.typtype <> 'd') as base
    cross join lateral (
      with recursive part(oid) as (
        select base.oid where base.oid >= 16384
        union
        select n.oid
          from part p
          join pg_type t on t.oid = p.oid
          cross join lateral (
            select t.typbasetype where t.typtype = 'd'
            union all
            select t.typelem where t.typtype <> 'd' and t.typcategory = 'A'
            union all
            select r.rngsubtype from pg_range r
             -- PostgreSQL 14 has multiranges
             where t.oid::text in (r.rngtypid::text, to_jsonb(r) ->> 'rngmultitypid')
            union all
            select f.atttypid from pg_attribute f
             where t.typtype = 'c' and f.attrelid = t.typrelid and f.attnum > 0 and not f.attisdropped) as n(oid)
      )
      select exists (select from part p join pg_type t on t.oid = p.oid and t.typtype = 'd') as is_checked) as checked
), key as (
  select format('json_build_array(%s)::text', string_agg(k.text, ', ' order by k.position)) as parts,
         string_agg(k.wanted, ', ' order by k.position) as wanted,
         string_agg(format(case when k.is_checked then '%s %s concat(wanted.%I)'
                                when k.attnotnull then '%s %s wanted.%I'
                                else '(%1$s %2$s wanted.%3$I or %1$s is null and wanted.%3$I is null)' end, k.value,
                           k.equals, k.name), ' and ' order by k.position) as matches
    from key_column k
  having count(*) > 0
), in_order as (
  select string_agg(format('new.%I', o.name), ', ' order by o.position) as names,
         format('json_build_array(%s)::text', string_agg(format('new.%I::text', o.name), ', ' order by o.position))
           as parts,
         string_agg(format('($1::json ->> %s)::%s', o.position - 1, o.type), ', ' order by o.position) as lower,
         string_agg(format('($2::json ->> %s)::%s', o.position - 1, o.type), ', ' order by o.position) as upper,
         -- what a planner without statistics understands better than the comparison of rows
         min(format('new.%I >= ($1::json ->> 0)::%s and ', o.name, o.type)) filter (where o.position = 1) as from_first,
         min(format('new.%I <= ($2::json ->> 0)::%s and ', o.name, o.type)) filter (where o.position = 1) as to_first
    from plan p, rows from (json_to_recordset(p.doc -> 'order') as (name text, type text)) with ordinality
                              as o(name, type, position)
), scope as (
  select case when o.names is null then '($1::json is null or new.ctid >= ($1::json ->> 0)::tid)' else
           format('($1::json is null or %srow(%s) > row(%s))', o.from_first, o.names, o.lower) end as behind,
         case when o.names is null then '($2::json is null or new.ctid < ($2::json ->> 0)::tid)' else
           format('($2::json is null or %srow(%s) <= row(%s))', o.to_first, o.names, o.upper) end as up_to
    from in_order o
), source_rows as (
  select format('from %s as new where %s and %s%s', p.relation, s.behind, s.up_to, p.filter) as text,
         format(p.hash, r.text) as hash
    from plan p, scope s, row_text r
)
select format('select count(*), coalesce(sum(%s), 0) %s', s.hash, s.text) as sum,
       case when k.parts is not null then
         format('select (%1$s & $3::bigint)::text, count(*), sum(%2$s) %3$s group by 1', format(p.hash, k.parts),
                s.hash, s.text)
       else
         format('select (h.hash & $3::bigint)::text, count(*), sum(h.hash) '
                'from (select %s as hash %s offset 0) as h group by 1', s.hash, s.text)
       end as buckets,
       case when k.parts is not null then
         format('select %1$s, %2$s::text %3$s and ($4::bigint[] is null or (%4$s & $3::bigint) = any ($4::bigint[]))',
                k.parts, s.hash, s.text, format(p.hash, k.parts))
       else
         format('select h.hash::text, count(*)::text from (select %s as hash %s offset 0) as h '
                'where $4::bigint[] is null or (h.hash & $3::bigint) = any ($4::bigint[]) group by h.hash',
                s.hash, s.text)
       end as rows,
       format('select %s from %s as new where %s order by %s offset $2::bigint - 1 limit 1', o.parts, p.relation,
              c.behind, o.names) as boundary,
       case
         when k.parts is not null and p.capture is null then
           format('select w.position, array[%s]::text '
                    'from json_array_elements($1::json) with ordinality as w(parts, position) '
                    'cross join lateral (select %s) as wanted '
                    'join %s as new on %s', h.list, k.wanted, p.relation, k.matches)
         when k.parts is not null then
           format('with recent as materialized (select c.key, c.op from rowrelay.change c '
                    'where c.id > $2::bigint and c.capture = %1$s '
                      'and not pg_visible_in_snapshot(c.txid, $3::pg_snapshot)) '
                  'select w.position, row_.hashes, %2$s, '
                    '%2$s in (select r.key from recent r where r.key is not null) '
                      'or exists (select from recent r where r.op = ''t'') '
                      'or %2$s in (select json_array_elements_text($4::json)), '
                    '(select f.message from rowrelay.refusal f '
                      'where f.target = %3$s and f.capture = %1$s and f.row_hash = %9$s and f.key = %2$s '
                      'order by f.change_id desc limit 1) '
                    'from json_array_elements($1::json) with ordinality as w(parts, position) '
                    'cross join lateral (select %4$s) as wanted '
                    'left join lateral (select array[%5$s]::text as hashes from %6$s as new where %7$s%8$s) as row_ '
                      'on true',
                  p.capture, p.key_text, p.target, k.wanted, h.list, p.relation, k.matches, p.filter, p.row_hash)
         when p.capture is null then
           format('select h.hash::text, count(*), min(left(concat(h.whole), 200)) '
                   'from (select %s as hash, new.*::record as whole from %s as new offset 0) as h '
                   'where h.hash = any (array(select json_array_elements_text($1::json)::bigint)) group by h.hash',
                  s.hash, p.relation)
         else
           format('with wanted as materialized ('
                    'select json_array_elements_text($1::json)::bigint as hash where $4::json is not null), '
                  'recent as materialized (select c.op, c.old_row, c.new_row, c.caveat from rowrelay.change c '
                    'where c.id > $2::bigint and c.capture = %1$s '
                      'and not pg_visible_in_snapshot(c.txid, $3::pg_snapshot)), '
                  'touched as materialized (%5$s), '
                  'found as materialized (select h.hash, count(*) as n, min(left(concat(h.whole), 200)) as text '
                    'from (select %2$s as hash, new.*::record as whole from %3$s as new where true%4$s offset 0) as h '
                    'where h.hash in (select w.hash from wanted w) group by h.hash) '
                  'select w.hash::text, coalesce(f.n, 0), f.text, '
                    'w.hash in (select t.hash from touched t) '
                      'or exists (select from recent r where %6$s or r.op = ''t'' '
                        'or r.caveat ->> ''text_columns'' is not null '
                        'or r.caveat ->> ''problem'' is not null), '
                    'null::text '
                    'from wanted w left join found f on f.hash = w.hash',
                  p.capture, s.hash, p.relation, p.filter,
                  -- where images cannot be read, any row may be that of a change
                  case when n.any_row then 'select null::bigint as hash where false'
                       else format('select %s as hash from recent r '
                                   'cross join lateral (values (r.old_row), (r.new_row)) as i(image) '
                                   'cross join lateral json_to_record(i.image) as new(%s) where i.image is not null',
                                   s.hash, n.types) end,
                  n.any_row::text)
       end as lookup,
       null as keys
  from plan p, source_rows s, in_order o, scope c, column_hash h, named n
  left join key k on true;
