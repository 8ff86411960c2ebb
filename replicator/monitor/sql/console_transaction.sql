-- The changes of one transaction, newest first, for the console.
--   $1 its id  $2 only before this change; null: from the newest
with chosen as materialized (
  select c.change_id, c.day
    from rowrelay.changes_of_transaction($1::xid8) c
   where $2::bigint is null or c.change_id < $2
   order by c.change_id desc limit 50
)
select coalesce(json_agg(h order by h.id desc), '[]')
  from (select x.change_id as id, x.change_id::text as change, x.relation::text as "table", x.op, x.key,
               rowrelay.image_texts(x.old_row) as old_row, rowrelay.image_texts(x.new_row) as new_row,
               rowrelay.changed_texts(x.changed) as changed,
               x.captured_at, x.txid::text, x.actor, x.status, x.problem,
               x.caveat -> 'redacted' as redacted,
               (select jsonb_object_agg(d.key, d.value -> 'actor')
                  from jsonb_each(x.deliveries) as d where d.value ? 'actor') as settled_by
          from rowrelay.history_at(array(select c.change_id from chosen c order by c.change_id),
                                   array(select c.day from chosen c order by c.change_id)) as x
         where x.op in ('insert', 'update', 'delete', 'truncate', 'snapshot')) as h;
