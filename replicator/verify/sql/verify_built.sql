-- The statements that compare documents at the source, in the order of verify_statements.sql. Their $1 is that of the
-- document's query: the array of keys. Only boundary, and keys, which gives the array of the keys of a range, take the
-- range as $1 and $2. The keys are all those of the first of the document's tables.
--   $1, $2, $3, $4 as for verify_statements.sql
-- Gives comparing: sum, buckets, rows, boundary, lookup, keys
with plan as (
  select d.doc, d.doc -> 'document' ->> 'rows' as rows, d.doc -> 'document' ->> 'key' as key,
         (d.doc ->> 'target')::integer as target,
         (d.doc -> 'document' ->> 'capture')::integer as capture, d.doc -> 'document' ->> 'key_type' as key_type,
         (d.doc -> 'document' ->> 'key_type_oid')::oid as key_type_oid,
         -- the first mention of $1 says its type
         format('with "the keys" as (select $1::%s[]) ', d.doc -> 'document' ->> 'key_type') as prefix,
         d.doc -> 'document' ->> 'root' as root, d.doc -> 'document' ->> 'root_column' as root_column,
         case when $3::boolean then format('(''x'' || substr(md5(%s), 1, 16))::bit(64)::bigint',
                                          case when getdatabaseencoding() in ('UTF8', 'SQL_ASCII') then '%s'
                                               else 'convert_to((%s), ''UTF8'')' end)
              else 'hashtextextended((%s) collate "C", 0)' end as hash
    from (select $1::json as doc) as d
), compared as (
  select c.position,
         format('coalesce((%s)::text, %L)', case when $4::boolean then coalesce(c.safe_value, c.value) else c.value end,
                $2::text || '!') as value
    from plan p, rows from (json_to_recordset(p.doc -> 'columns') as (value text, safe_value text)) with ordinality
                              as c(value, safe_value, position)
), part as (
  select c.position / 50 as n,
         format('concat_ws(%L, %s)', $2::text, string_agg(c.value, ', ' order by c.position)) as text
    from compared c
   group by c.position / 50
), row_hash as (
  select format(p.hash, case when t.n = 1 then t.first else format('concat_ws(%L, %s)', $2::text, t.list) end) as hash
    from plan p,
         (select count(*) as n, min(k.text) as first, string_agg(k.text, ', ' order by k.n) as list from part k) as t
), column_hash as (
  select string_agg(format(p.hash, c.value), ', ' order by c.position) as list
    from plan p, compared c
), key as (
  select format('json_build_array(%s)::text', rowrelay.document_key_text(format('new.%I', p.key), p.key_type_oid))
           as parts,
         format('select distinct r.%1$I as key from %2$s as r '
                'where r.%1$I is not null and ($1::json is null or r.%1$I > ($1::json ->> 0)::%3$s)',
                p.root_column, p.root, p.key_type) as list
    from plan p
)
select p.prefix || format('select count(*), coalesce(sum(%s), 0) from %s as new where $2::text is null', r.hash,
                          p.rows) as sum,
       p.prefix || format('select (%s & $3::bigint)::text, count(*), sum(%s) from %s as new '
                          'where $2::text is null group by 1',
              format(p.hash, k.parts), r.hash, p.rows) as buckets,
       p.prefix || format('select %1$s, %2$s::text from %3$s as new '
                          'where $2::text is null '
                            'and ($4::bigint[] is null or (%4$s & $3::bigint) = any ($4::bigint[]))',
              k.parts, r.hash, p.rows, format(p.hash, k.parts)) as rows,
       format('select json_build_array(%s)::text from (%s) as k order by k.key offset $2::bigint - 1 limit 1',
              rowrelay.document_key_text('k.key', p.key_type_oid), k.list)
         as boundary,
       p.prefix || format('select w.position, b.hashes, %1$s, false, '
                '(select f.message from rowrelay.refusal f where f.target = %2$s and f.capture = %3$s '
                  'and f.row_hash = rowrelay.text_hash(%1$s) and f.key = %1$s '
                  'order by f.change_id desc limit 1) '
                'from unnest($1::%4$s[]) with ordinality as w(key, position) '
                'left join (select new.%5$I as key, array[%6$s]::text as hashes from %7$s as new) as b '
                  'on b.key = w.key',
              rowrelay.document_key_text('w.key', p.key_type_oid), p.target, p.capture, p.key_type, p.key, h.list,
              p.rows) as lookup,
       format('select coalesce(array_agg(k.key), ''{}'')::text from (%s) as k '
              'where $2::json is null or k.key <= ($2::json ->> 0)::%s', k.list, p.key_type) as keys
  from plan p, row_hash r, column_hash h, key k;
