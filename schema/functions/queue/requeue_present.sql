-- Purpose:    queues snapshots of existing rows for one target. Does not wait for a row that another session is
--             writing.
-- Parameters: capture; target; keys as the log has them; problem: why there can be no image, recorded in the change
--             instead
-- Result:     number of queued rows
-- Errors:     lock_not_available: another session is writing one of them; any error that a row causes
create or replace function rowrelay.requeue_present(capture rowrelay.capture, target rowrelay.target, keys text[],
                                                    problem text default null) returns bigint
language plpgsql as $$
declare
  condition text := format('exists (select from %s where %s)',
                           rowrelay.parsed_keys(capture, quote_literal(keys) || '::text[]'),
                             rowrelay.same_key(capture, 'new', 'wanted'));
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
