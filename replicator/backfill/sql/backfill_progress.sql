-- How far backfill $1 is, in the columns of backfill_step.sql; and whether it is copied as a whole.
select case when b.state in ('done', 'cancelled') then b.state else 'waits' end, 0, 0, b.rows_queued, b.rows_read,
       b.rows_estimated, b.rate, b.note, b.way = 'copy' and b.state <> 'waiting'
  from rowrelay.backfill b
 where b.id = $1::integer;
