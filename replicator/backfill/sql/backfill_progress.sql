-- How far backfill $1 is, as backfill_step.sql gives it, and whether its table is copied as a whole.
-- Gives step: outcome, passed, held, queued, read, estimated, rate, note, copied
select case when b.state in ('done', 'cancelled') then b.state else 'waits' end as outcome, 0 as passed, 0 as held,
       b.rows_queued as queued, b.rows_read as read, b.rows_estimated as estimated, b.rate,
       coalesce(rowrelay.backfill_stranger(b.id), b.note) as note,
       b.way = 'copy' and b.state <> 'waiting' as copied
  from rowrelay.backfill b
 where b.id = $1::integer;
