-- Reads what claimed rows of a document's lanes make stale: one line for each, in order of ids, like claim_changes.sql; in
-- the place of the new row are the keys of documents that are this lane's. An image that lacks the column in which the
-- key should be (because it was renamed twice since), or a row that could not be captured, may have meant any document.
--   $1 change ids, ascending  $2 their days  $3 the same days, each once  $4 their lanes  $5 document
--   $6 number of its lanes that are not late
with source as materialized (
  -- the table may have been captured before, under another number
  select o.id as capture, a.attname as name, s.key_name, s.keys_query is not null as asks, rowrelay.base_type(a.atttypid) as type
    from rowrelay.document_source s
    join rowrelay.capture c on c.id = s.capture
    join rowrelay.capture o on o.relation = c.relation
    left join pg_catalog.pg_attribute a on a.attrelid = c.relation and a.attnum = s.key_column and not a.attisdropped
   where s.document = $5::integer
)
select h.id, h.capture, h.op, h.key, null::text,
       case when h.op = 'r' and h.new_row is not null then h.new_row else k.keys end,
       null::text, null::text, null::text, null::text, null::text,
       case when h.caveat ->> 'problem' is not null or k.is_lost or h.op = 't' and (q.lane & 4095 <> 0 or h.new_row is not null) then 'all'
            when k.asks then 'query' end
  from unnest($1::bigint[], $2::date[], $4::integer[]) as q(id, day, lane)
  left join lateral (
    select c.* from rowrelay.change c where c.id = q.id and c.day = q.day and c.day = any ($3::date[])
    offset 0) as h on true
  cross join lateral (
    select json_agg(distinct x.key) filter (where mod(hashtext(x.key) & 2147483647, $6::integer) + 1 = q.lane & 4095) as keys,
           bool_or(x.image is not null and x.key is null and x.image -> s.name is null and x.image -> s.key_name is null
                   and not s.asks) as is_lost,
           bool_or(s.asks) as asks
      from source s
      cross join lateral (
        select i.image, rowrelay.document_key(i.image, s.name, s.key_name, s.type) as key
          from (values (h.old_row), (h.new_row)) as i(image)) as x
     where s.capture = h.capture and h.op <> 't') as k
 order by q.id;
