-- Changes, newest first, for the console. They are chosen first, because reading what became of a change takes longest.
--   $1 oid of the table; null: all  $2 words that an image contains; null: any
--   $3 only before this change; null: from the newest
--   $4 since  $5 until  $6 who made it  $7 operation ($4 to $7 null: any, but of operations
--   only those that people know, as in rowrelay log)
with range as materialized (
  select r.first_id, r.last_id, r.days from rowrelay.search_range($4::timestamptz, $5::timestamptz) as r
), chosen as materialized (
  select x.change_id, x.day
    from rowrelay.history x
   where ($1::oid is null or x.relation = $1::regclass)
     and ($2::text is null or strpos(lower(x.new_row::text), lower($2)) > 0
          or strpos(lower(x.old_row::text), lower($2)) > 0)
     and ($3::bigint is null or x.change_id < $3)
     and ($4 is null or x.captured_at >= $4 and x.change_id >= (select r.first_id from range r))
     and ($5 is null or x.captured_at <= $5 and x.change_id <= (select r.last_id from range r))
     and ($4 is null and $5 is null or x.day = any (array(select unnest(r.days) from range r)))
     and ($6::text is null or x.actor = $6 or x.db_user = $6)
     and (x.op = $7::text or $7 is null and x.op in ('insert', 'update', 'delete', 'truncate', 'snapshot'))
   order by x.change_id desc limit 50
)
select coalesce(json_agg(h order by h.id desc), '[]')
  from (select x.change_id as id, x.change_id::text as change, x.relation::text as "table", x.op, x.key,
               rowrelay.image_texts(x.old_row) as old_row, rowrelay.image_texts(x.new_row) as new_row,
               rowrelay.changed_texts(x.changed) as changed,
               x.captured_at, x.txid::text, x.actor, x.status, x.problem,
               x.caveat -> 'redacted' as redacted,
               (select jsonb_object_agg(d.key, d.value -> 'actor')
                  from jsonb_each(x.deliveries) as d where d.value ? 'actor') as settled_by,
               (select jsonb_object_agg(d.key, concat(d.value ->> 'again', ' by ', d.value ->> 'again_by'))
                  from jsonb_each(x.deliveries) as d where d.value ? 'again') as again
          from rowrelay.history_at(array(select c.change_id from chosen c order by c.change_id),
                                   array(select c.day from chosen c order by c.change_id)) as x) as h;
