-- How far backfill $1 is, in the columns of backfill_step.sql.
select case when b.state in ('done', 'cancelled') then b.state else 'waits' end, 0, 0, b.rows_queued, b.rows_read,
       b.rows_estimated, b.rate, b.note
  from rowrelay.backfill b
 where b.id = $1::integer;
