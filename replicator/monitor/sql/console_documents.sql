-- Documents by name, with what waits to be built and what building has cost in the last hour, for the console.
--   $1 part of the name; null: any  $2 at most so many
with shown as materialized (
  select d.document, d.target, d.into_table, d.key, d.sources, d.note, d.created_at
    from rowrelay.documents d
   where $1::text is null or strpos(lower(d.document), lower($1)) > 0
   order by d.document
   limit $2::integer
)
select coalesce(json_agg(d order by d.document), '[]')
  from (select n.document, n.target, n.into_table, n.key, n.sources, concat_ws('; ', n.note, s.note) as note,
               n.created_at, s.state, s.backlog::text, extract(epoch from s.oldest_pending) as lag, s.errors::text,
               b.built::text, b.milliseconds
          from shown n
          join rowrelay.status s on s.target = n.document
          cross join lateral (
            select coalesce(sum(cardinality(r.change_ids)), 0) as built,
                   round((1000 * sum(extract(epoch from r.settled_at - r.claimed_at))
                          / nullif(sum(cardinality(r.change_ids)), 0))::numeric, 2) as milliseconds
              from rowrelay.receipt r
             where r.target = (select t.id from rowrelay.target t where t.name = n.document and t.dropped_at is null)
               and r.outcome = 'delivered' and r.claimed_at is not null
               and r.settled_at between now() - interval '1 hour' and now() + interval '1 min') as b
         where s.target = any (array(select w.document from shown w))) as d;
