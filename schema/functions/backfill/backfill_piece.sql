-- Purpose:    queues the next rows of the table that a backfill is reading, which the caller has locked. It first finds
--             the end of the piece without locks, then locks, logs and queues the rows (rowrelay.snapshot_statement).
-- Parameters: backfill; its capture; its target; how many rows to read at most
-- Result:     passed: rows read, fewer than most_rows in the last piece; queued: rows queued; bound: the new position,
--             null: there was no row; held: for how many milliseconds rows may have been locked
-- Errors:     as for rowrelay.backfill_step()
create or replace function rowrelay.backfill_piece(backfill rowrelay.backfill, capture rowrelay.capture,
                                                   target rowrelay.target,
                                                   most_rows integer, out passed integer, out queued bigint,
                                                     out bound text[],
                                                   out held integer)
language plpgsql as $$
declare
  names     text[];
  columns   text; -- new.a, new.b
  downwards text;
  texts     text;
  condition text;
  document_key text;
  last_id   bigint;
  locked_at timestamptz;
begin
  passed := 0;
  queued := 0;
  held := 0;
  if rowrelay.full_name(backfill.part) is null then
    return; -- a partition that was dropped
  end if;
  perform rowrelay.check_sees_all(backfill.part);
  names := rowrelay.backfill_order(backfill.part, rowrelay.attribute_names(capture.relation, capture.key_columns));
  if names = '{}' then
    raise exception 'table % has no unique index by which it can be copied piece by piece', backfill.part
      using errcode = 'object_not_in_prerequisite_state', hint = 'Create a unique index on NOT NULL columns.';
  end if;
  select string_agg(format('new.%I', u.name), ', ' order by u.position),
         -- not a name alone, which would be that of a column of the result
         string_agg(format('piece.%I desc', u.name), ', ' order by u.position),
         string_agg(rowrelay.safe_text(format('%I', u.name), a.atttypid), ', ' order by u.position)
    into columns, downwards, texts
    from unnest(names) with ordinality as u(name, position)
    join pg_attribute a on a.attrelid = backfill.part and a.attname = u.name and not a.attisdropped;

  condition := case when backfill.position is null then 'true'
                    else rowrelay.backfill_bound(backfill.part, names, backfill.position, true) end;
  execute format(
      'select array[%s], (count(*) over ())::integer from (select %s from only %s as new where %s order by %s limit '
      '%s) as piece '
                 'order by %s limit 1',
                 texts, columns, backfill.part, condition, columns, most_rows, downwards)
     into bound, passed;
  if bound is null then
    passed := 0;
    return;
  end if;

  condition := concat_ws(' and ', condition,
                         rowrelay.backfill_bound(backfill.part, names, bound, false),
                         '(' || backfill.condition || ')');
  -- For a document only keys are queued, because it is read when it is built: no row has to be locked.
  select rowrelay.document_key_expression(capture.relation, s.key_column, 'new', d.key_type) into document_key
    from rowrelay.document_source s join rowrelay.document d on d.target = s.document
   where s.document = target.id and s.position = 1;
  if document_key is not null then
    queued := rowrelay.queue_documents(target.id,
                                       format('select distinct %1$s from only %2$s as new where (%3$s) and %1$s is '
                                              'not null',
                                                         document_key, backfill.part, condition), null);
    return;
  end if;
  locked_at := clock_timestamp();
  if most_rows > 1 then
    execute rowrelay.snapshot_statement(capture, target, backfill.part, condition, false) into queued, last_id;
  else
    begin
      execute rowrelay.snapshot_statement(capture, target, backfill.part, condition, true) into queued, last_id;
    exception when data_exception or program_limit_exceeded or out_of_memory or internal_error then
      -- if the condition fails rather than the row, this fails again
      execute rowrelay.snapshot_statement(capture, target, backfill.part, condition, true,
                                          sqlerrm) into queued, last_id;
    end;
  end if;
  held := extract(epoch from clock_timestamp() - locked_at) * 1000;
  if last_id <= pg_sequence_last_value('rowrelay.doorbell'::regclass) then
    perform rowrelay.ring_doorbell();
  end if;
end
$$;
