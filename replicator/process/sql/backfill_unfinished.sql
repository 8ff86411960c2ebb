-- Backfills that are not finished: number, name for messages, target, table, and whether each may be tried now.
--   $1 names of targets; null: all
-- Gives unfinished: id, name, target, relation, is_due
select b.id, c.relation_name || ' to ' || t.name as name, t.name as target,
       c.relation_name as relation,
       (b.retry_at between clock_timestamp() and clock_timestamp() + interval '10 s') is not true as is_due
  from rowrelay.backfill b
  join rowrelay.capture c on c.id = b.capture
  join rowrelay.target t on t.id = b.target
 where b.state in ('waiting', 'copying', 'joining', 'running') and ($1::text[] is null or t.name = any ($1::text[]))
 order by b.id;
