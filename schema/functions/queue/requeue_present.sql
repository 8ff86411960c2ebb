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
  shared    constant text[] := case when problem is null and rowrelay.has_children(capture.relation)
    then array(select k from unnest(keys) as k where rowrelay.rows_with_key(capture.id, k) > 1) else '{}' end;
  others    constant text[] := array(select k from unnest(keys) as k where k <> all (shared));
  condition constant text := format('exists (select from %s where %s)',
                                    rowrelay.parsed_keys(capture, quote_literal(others) || '::text[]'),
                                    rowrelay.same_key(capture, 'new', 'wanted'));
  part      regclass;
  queued    bigint;
  last_id   bigint;
  total     bigint := 0;
begin
  if shared <> '{}' then -- they would be one row there
    total := rowrelay.requeue_present(capture, target, shared, rowrelay.shared_key());
  end if;
  for part in
    select m
      from unnest(rowrelay.captured_tables(capture)) as m join pg_class c on c.oid = m and c.relkind in ('r', 'f')
  loop
    execute rowrelay.snapshot_statement(capture, target, part, condition, false, problem) into queued, last_id;
    total := total + queued;
  end loop;
  return total;
end
$$;
