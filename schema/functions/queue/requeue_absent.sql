-- Purpose:    queues deletes of missing rows for one target. A missing row cannot be locked, so another session may be
--             inserting it. Therefore this first takes ids for the deletes; then waits for all transactions that were
--             writing to the table by then, whose changes could have smaller ids; then locks the rows' lanes, so that
--             nothing with a larger id is delivered before this commits; and then checks again that the rows are
--             missing.
-- Parameters: capture; target; keys as the log has them; patience: how long to wait for other writers
-- Result:     number of queued deletes
-- Errors:     lock_not_available: another session writes to the table for longer than patience
create or replace function rowrelay.requeue_absent(capture rowrelay.capture, target rowrelay.target, keys text[],
                                                   patience interval) returns bigint
language plpgsql as $$
declare
  give_up_at constant timestamptz := clock_timestamp() + patience;
  -- Of a missing row only the key is known: if other columns choose the lane, its delete has to be a barrier.
  lane_columns constant smallint[] := coalesce(capture.lane_columns, capture.key_columns);
  lane_is_known constant boolean := lane_columns operator(pg_catalog.<@) capture.key_columns;
  is_there   text; -- conditions and expressions on the columns of parsed_keys
  lane_of    text;
  old_row    text;
  absent     text[];
  ids        bigint[];
  lanes      integer[];
  writers    text[];
  holders    text;
  queued     bigint;
begin
  is_there := format('exists (select from %s as new where %s%s)', capture.relation,
                     rowrelay.same_key(capture, 'new', 'wanted'), ' and ' || rowrelay.filter_condition(capture));
  old_row := rowrelay.key_json(capture.relation, rowrelay.attribute_names(capture.relation, capture.key_columns),
                               'wanted');
  lane_of := case when lane_is_known
                  then format('%s + mod(%s & 2147483647, %s)', rowrelay.lane_number(target.id, 0),
                              rowrelay.hash_expression(capture.id, capture.relation, lane_columns, 'wanted'),
                                target.lanes)
                  else rowrelay.lane_number(target.id, -1)::text end;

  execute format('select array(select u.key from %s where not %s)', rowrelay.parsed_keys(capture, '$1'), is_there)
     into absent using keys;
  if absent = '{}' then
    return 0;
  end if;
  lock table only rowrelay.change in row exclusive mode; -- before the ids are taken: see rowrelay.writers()
  ids := array(select rowrelay.next_change_id() from unnest(absent));
  writers := rowrelay.backfill_writers(capture);
  while writers operator(pg_catalog.&&) rowrelay.backfill_writers(capture) loop
    if clock_timestamp() > give_up_at then
      select string_agg(format('process %s (%s, %s)', a.pid, a.usename, a.state), ', ' order by a.pid) into holders
        from pg_stat_activity a
       where a.pid in (select l.pid from pg_locks l where l.virtualtransaction = any (writers));
      raise exception 'another transaction that writes to table % did not end within %', capture.relation, patience
        using errcode = 'lock_not_available',
          detail = coalesce('It is ' || holders || '.', 'It is a prepared transaction.'),
              hint = 'Nothing was queued. Try again later.';
    end if;
    perform pg_sleep(0.01);
  end loop;

  if lane_is_known then
    execute format('select array(select distinct %s from %s order by 1)', lane_of, rowrelay.parsed_keys(capture, '$1'))
       into lanes using absent;
  else
    lanes := rowrelay.lanes_of(target.id);
  end if;
  perform rowrelay.lock_lanes(lanes);
  execute format(
    'with gone as materialized ('
      'select d.id, %s as key, %s as lane, %s as old_row '
        'from unnest($2, $3) as d(key, id) join (%s) on u.key = d.key where not %s), '
    'logged as ('
      'insert into rowrelay.change (id, txid, captured_at, day, capture, op, key, actor, db_user, application_name, '
      'client_addr, '
                                   'old_row, caveat) '
      'select g.id, pg_current_xact_id(), clock_timestamp(), rowrelay.partition_day(), $4, ''d'', g.key, $5, '
             'rowrelay.db_user(), current_setting(''application_name''), rowrelay.client_addr(), g.old_row, '
             'json_build_object(''target'', $6) from gone g) '
    'insert into rowrelay.queue (change_id, lane, day, bytes) '
    'select g.id, g.lane, rowrelay.partition_day(), pg_column_size(g.old_row) from gone g',
    rowrelay.key_expression(capture.relation, capture.key_columns, 'wanted'), lane_of, old_row,
    rowrelay.parsed_keys(capture, '$1'), is_there)
    using absent, absent, ids, capture.id, rowrelay.actor(), target.id;
  get diagnostics queued = row_count;
  return queued;
end
$$;
