-- Purpose:    begins to capture the changes of a table, or changes how it is captured. Takes SHARE ROW EXCLUSIVE on the
--             table for a moment, without letting anybody queue behind it for longer than a tenth of a second.
-- Parameters: relation; of those below, what is null stays as it was said the last time, if the table is captured already
--             key: columns that identify a row, with a unique index on them, or on some of them (default: primary key, else a
--             unique index on columns not null, else none)
--             lane: columns whose equal values keep changes in order (default: the key; {}: the whole table)
--             columns / exclude: what to capture (default: everything) / what to leave out ({}: nothing)
--             mask: {"column": value to show instead} ({}: none)
--             row_filter: condition on a row; an update that makes it hold is captured as insert, the other way as delete
--             (default, and '': none)
--             before: none (the default), or full to keep an update's row before it too
--             capture_origin: capture also what rowrelay itself writes into this table (default: not)
--             lock_wait: how long to try for the lock
--             target: send the changes there, too; create_table: make the table there; see rowrelay.route()
--             reset: forget what was said the last time, so that what is null here is as for a new table
-- Result:     id of the capture
--             Warnings: what was left out when the table was captured the last time, and is not now; the table is unlogged;
--             row-level security hides it; two partitions may have rows with the same key.
-- Errors:     the relation cannot be captured; a key that nothing keeps unique, or that rows of it and of inheritance
--             children share; unknown columns; no lock within lock_wait. Nothing has changed then.
create or replace function rowrelay.capture_table(
  relation regclass, key text[] default null, lane text[] default null, columns text[] default null,
  exclude text[] default null, mask jsonb default null, row_filter text default null, before text default null,
  capture_origin boolean default null, lock_wait interval default '1 min', reset boolean default false,
  target text default null, create_table boolean default null) returns integer
language plpgsql security definer as $$
declare
  was         rowrelay.capture;
  begun       rowrelay.capture; -- as a new one begins
  capture     rowrelay.capture;
  documents   text;
  shown       text;
  begins      boolean;
begin
  perform rowrelay.check_capturable(relation);
  select c.* into was from rowrelay.capture c
   where c.relation = capture_table.relation and c.released_at is null for update;
  if was.id is null then
    insert into rowrelay.capture as c (relation, relation_name, key_columns, key_is_exact, lane_columns, only_columns,
                                       exclude_columns, mask, row_filter, before, capture_origin)
    values (relation, rowrelay.full_name(relation), '{}', false, null, null, '{}', '{}', null, 'none', false)
    returning c.* into begun;
  else
    begun := was;
    if reset then
      begun.key_is_chosen := false;
      begun.lane_columns := null;
      begun.only_columns := null;
      begun.only_names := null;
      begun.exclude_columns := '{}';
      begun.exclude_names := '{}';
      begun.mask := '{}';
      begun.mask_names := '{}';
      begun.row_filter := null;
      begun.before := 'none';
      begun.capture_origin := false;
    end if;
  end if;
  capture := rowrelay.wanted_capture(relation, begun, key, lane, columns, exclude, mask, row_filter, before, capture_origin);

  update rowrelay.capture c
     set relation_name = capture.relation_name, key_columns = capture.key_columns, key_is_exact = capture.key_is_exact,
         key_is_chosen = capture.key_is_chosen, lane_columns = capture.lane_columns,
         only_columns = capture.only_columns, only_names = capture.only_names,
         exclude_columns = capture.exclude_columns, exclude_names = capture.exclude_names,
         mask = capture.mask, mask_names = capture.mask_names, row_filter = capture.row_filter,
         before = capture.before, capture_origin = capture.capture_origin
   where c.id = capture.id
  returning c.* into capture;
  -- Who says one thing anew may not think of what else it means.
  select string_agg(format('%I', a.attname), ', ' order by a.attnum) into shown
    from pg_attribute a
   where a.attrelid = capture_table.relation and a.attnum > 0 and not a.attisdropped
     and (a.attnum = any (was.exclude_columns) or was.mask ? a.attnum::text or a.attnum <> all (was.only_columns))
     and (a.attnum = any (capture.exclude_columns) or capture.mask ? a.attnum::text or a.attnum <> all (capture.only_columns)) is not true;
  if shown is not null then
    raise warning 'table %: columns % were left out or masked, and are captured as they are from now on', relation, shown
      using hint = 'Capture it again with what is to be left out or masked, if that is not what you want.';
  end if;
  if was.row_filter is not null and capture.row_filter is null then
    raise warning 'table %: rows for which (%) does not hold were left out, and are captured from now on', relation, was.row_filter
      using hint = 'Capture it again with the row filter, if that is not what you want.';
  end if;
  if capture.key_columns && (capture.exclude_columns || array(select m::smallint from jsonb_object_keys(capture.mask) as m))
     or not capture.key_columns <@ coalesce(capture.only_columns, capture.key_columns) then
    raise exception 'the key of table % cannot be left out or masked', relation
      using errcode = 'invalid_parameter_value',
            hint = 'Choose other columns, or another key (parameter key).';
  end if;

  select string_agg(c.oid::regclass::text, ', ' order by c.oid::regclass::text) into shown
    from pg_class c where c.oid = any (rowrelay.captured_tables(capture)) and c.relpersistence = 'u';
  if shown is not null then
    raise warning 'unlogged tables are emptied by a crash, and no trigger is told: %', shown
      using hint = 'Afterwards rowrelay verify TARGET --repair removes at a mirror what is gone.';
  end if;

  if row_security_active(relation) then
    raise warning 'row-level security hides rows of table % from role %, which owns schema rowrelay', relation, current_user
      using detail = 'Where triggers of the table change rows that the same statement writes, changes may be captured in the wrong order.',
            hint = format('Let a superuser run: alter role %I bypassrls. Or let the table''s owner do without FORCE: '
                          'alter table %s no force row level security.', current_user, relation);
  end if;

  if was.id is null then
    -- It was captured once, and documents are built from it.
    with ours as (
      update rowrelay.document_source s set capture = capture.id
        from rowrelay.capture c, rowrelay.target t
       where c.id = s.capture and c.relation = capture_table.relation and c.released_at is not null
         and t.id = s.document and t.dropped_at is null
      returning t.name
    )
    select string_agg(distinct format('"%s"', o.name), ', ') into documents from ours o;
    if documents is not null then
      raise warning 'nothing was captured of table % for a while, and documents % are built from it', relation, documents
        using hint = 'Build what was missed, for each of them: rowrelay document rebuild NAME';
    end if;
  end if;
  select string_agg(distinct format('"%s"', t.name), ', ') into documents
    from rowrelay.document_source s join rowrelay.target t on t.id = s.document
   where s.capture = capture.id and t.dropped_at is null
     and (s.key_column = any (capture.exclude_columns) or s.key_column <> all (capture.only_columns)
          or capture.mask ? s.key_column::text);
  if documents is not null then
    raise exception 'the column of table % that holds the keys of documents % cannot be left out or masked', relation, documents
      using errcode = 'invalid_parameter_value';
  end if;

  perform rowrelay.check_children(capture);
  begins := was.id is null
         or (was.key_columns, was.row_filter, was.capture_origin)
            is distinct from (capture.key_columns, capture.row_filter, capture.capture_origin);
  if was.id is not null and begins then
    -- what is captured as it was before must have ended when the log begins anew
    perform rowrelay.lock_tables(rowrelay.captured_tables(capture), 'share row exclusive', lock_wait);
  end if;
  if target is not null then
    perform rowrelay.add_route(capture, target, null, create_table, false);
  end if;
  perform rowrelay.make_trigger_function(capture.id, lock_wait);
  perform rowrelay.attach_triggers(capture, was.id is not null and was.row_filter is distinct from capture.row_filter,
                                   lock_wait);
  if begins then
    perform rowrelay.begin_log(capture);
  end if;
  return capture.id;
end
$$;
