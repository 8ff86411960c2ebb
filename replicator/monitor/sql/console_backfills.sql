-- Backfills, those that are not done first, for the console.
--   $1 part of the table's or the target's name; null: any  $2 at most so many
select coalesce(json_agg(b order by b.is_over, b.registered_at desc), '[]')
  from (select b.relation_name, b.target, b.state, b.percent, b.rows::text, b.rows_estimated::text, b.row_filter,
               b.registered_at, b.started_at, b.finished_at, b.note, b.state in ('done', 'cancelled') as is_over
          from rowrelay.backfills b
         where $1::text is null or strpos(lower(b.relation_name || ' ' || b.target), lower($1)) > 0
         order by b.state in ('done', 'cancelled'), b.registered_at desc
         limit $2::integer) as b;
