-- Reads which documents the claimed rows of a document's lanes make stale: one line for each change, in order of ids,
-- like claim_changes.sql. In place of the new row come the keys of the documents that belong to this lane. A change may
-- concern any document when its images lack the column of the key (it was renamed twice since), or when the row could
-- not be captured.
--   $1 change ids, ascending  $2 their days  $3 the same days, each once  $4 their lanes  $5 document
--   $6 number of its lanes that are not late  $7 whether to read their age, in microseconds
-- Gives logged: id, capture, operation, key, old_row, new_row, text_columns, problem, captured_at, txid, actor,
--   traceparent, path, age, expansion
with source as materialized (
  -- the table may have been captured before, under another number
  select o.id as capture, s.keys_query is not null as asks, a.attname as name, s.key_name as former_name,
         b.type, d.key_type, rowrelay.is_key_type(b.type, d.key_type) as is_alike
    from rowrelay.document_source s
    join rowrelay.document d on d.target = s.document
    join rowrelay.capture c on c.id = s.capture
    join rowrelay.capture o on o.relation = c.relation
    left join pg_catalog.pg_attribute a on a.attrelid = c.relation and a.attnum = s.key_column and not a.attisdropped
    left join pg_catalog.pg_type t on t.oid = a.atttypid
   cross join lateral (
     select case when t.typtype = 'd' then rowrelay.base_type(t.oid) else t.oid end as type) as b
   where s.document = $5::integer
)
select h.id, h.capture, h.op as operation, h.key, null as old_row,
       case when h.op = 'r' and h.new_row is not null then h.new_row else k.keys end as new_row,
       null as text_columns, null as problem, null as captured_at, null as txid, null as actor,
       null as traceparent, null as path,
       case when $7::boolean then rowrelay.change_age(h.txid, h.captured_at) end as age,
       case when h.caveat ->> 'problem' is not null or k.is_lost
              or h.op = 't' and (rowrelay.lane_position(q.lane) <> -1 or h.new_row is not null) then 'all'
            when k.asks then 'query' end as expansion
  from unnest($1::bigint[], $2::date[], $4::integer[]) as q(id, day, lane)
  left join lateral (
    select c.* from rowrelay.change c where c.id = q.id and c.day = q.day and c.day = any ($3::date[])
    offset 0) as h on true
  cross join lateral (
    select json_agg(distinct x.key)
           filter (where mod(hashtext(x.key) & 2147483647, $6::integer) = rowrelay.lane_position(q.lane)) as keys,
           bool_or(x.is_lost) as is_lost, bool_or(x.asks) as asks
      from (-- each image is searched once for the key, as rowrelay.document_key() would
            select s.asks, v.value is null and i.image is not null and not s.asks as is_lost,
                   case when not s.is_alike then rowrelay.as_document_key(v.value #>> '{}', s.key_type)
                        when s.type = 'numeric'::regtype then trim_scale((v.value #>> '{}')::numeric)::text
                        when s.type = 'bpchar'::regtype then rtrim(v.value #>> '{}', ' ')
                        else v.value #>> '{}' end as key
              from source s
              cross join (values (h.old_row), (h.new_row)) as i(image)
              cross join lateral (
                select case when not s.asks then coalesce(i.image -> s.name, i.image -> s.former_name) end as value
                offset 0) as v
             where s.capture = h.capture and h.op <> 't'
            offset 0) as x) as k
 order by q.id;
