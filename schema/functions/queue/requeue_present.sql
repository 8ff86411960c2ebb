-- Purpose:    queues those of some rows that are there, as snapshots, for one target. A row that somebody is writing at
--             this moment is not waited for.
-- Parameters: capture; target; keys as the log has them; problem: why there can be no image, which the change says instead
-- Result:     how many were queued
-- Errors:     lock_not_available: somebody is writing one of them; whatever a row makes fail
create or replace function rowrelay.requeue_present(capture rowrelay.capture, target rowrelay.target, keys text[],
                                                    problem text default null) returns bigint
language plpgsql as $$
declare
  condition text := format('exists (select from %s where %s)',
                           rowrelay.parsed_keys(capture, quote_literal(keys) || '::text[]'), rowrelay.same_key(capture, 'new', 'wanted'));
  part      regclass;
  queued    bigint;
  last_id   bigint;
  total     bigint := 0;
begin
  for part in
    select m from unnest(rowrelay.captured_tables(capture)) as m join pg_class c on c.oid = m and c.relkind = 'r'
  loop
    execute rowrelay.snapshot_statement(capture, target, part, condition, false, problem) into queued, last_id;
    total := total + queued;
  end loop;
  return total;
end
$$;
