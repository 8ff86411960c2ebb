-- Purpose:    queues those of some rows that are there, as snapshots, for one target. A row that somebody is writing at
--             this moment is not waited for.
-- Parameters: capture; target; keys as the log has them; problem: why there can be no image, which the change says instead
-- Result:     how many were queued
-- Errors:     lock_not_available: somebody is writing one of them; whatever a row makes fail
create or replace function rowrelay.requeue_present(capture rowrelay.capture, target rowrelay.target, keys text[],
                                                    problem text default null) returns bigint
language plpgsql as $$
declare
  names     text[] := rowrelay.attribute_names(capture.relation, capture.key_columns);
  condition text;
  part      regclass;
  queued    bigint;
  last_id   bigint;
  total     bigint := 0;
begin
  select format('(%s) in (select %s from %s)', string_agg(format('new.%I', name), ', '), string_agg(format('wanted.%I', name), ', '),
                rowrelay.parsed_keys(capture, quote_literal(keys) || '::text[]'))
    into condition from unnest(names) as name;
  for part in
    select m from unnest(rowrelay.captured_tables(capture)) as m join pg_class c on c.oid = m and c.relkind = 'r'
  loop
    execute rowrelay.snapshot_statement(capture, target, part, condition, false, problem) into queued, last_id;
    total := total + queued;
  end loop;
  return total;
end
$$;
