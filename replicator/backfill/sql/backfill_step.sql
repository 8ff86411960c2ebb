-- Does the next step of backfill $1, reading at most $2 rows.
-- Gives step: outcome, passed, held, queued, read, estimated, rate, note, copied
select s.outcome, s.passed, s.held, s.queued, s.read, s.estimated, s.rate, s.note,
       false as copied
  from rowrelay.backfill_step($1::integer, $2::integer) as s;
