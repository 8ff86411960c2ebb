-- Purpose:    removes values of a row from the log: they become null in every image of it, before and after; other
--             values keep their text. Table rowrelay.redaction records who did it, when, and in which changes;
--             rowrelay.verify_log() accepts that and nothing else. caveat.redacted of a change names the columns. Only
--             the log is changed: clean the row and the targets yourself, the row first, or its next change brings the
--             values back. VACUUM removes the overwritten values from disk (`rowrelay redact` runs it); WAL and backups
--             keep them until they are removed.
-- Parameters: relation; key as the log has it, or in another spelling that is equal: the text of a single column, a
--             JSON array of several; columns by their present or former names; old_keys: also under the keys that the
--             row had before its key was updated; reason, for the record
-- Result:     how many changes had values in these columns
-- Errors:     the table was never captured, has no key, or the log has no change of the row; a column does not exist,
--             or is part of the key; changes of the row are not delivered yet, or were refused
create or replace function rowrelay.redact(relation regclass, key text, columns text[], old_keys boolean default false,
                                           reason text default null) returns bigint
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  captures  integer[] := array(select c.id from rowrelay.capture c where c.relation = redact.relation);
  keys      text[] := array[key];
  ids       bigint[];
  days      date[];
  name      text;
  change    rowrelay.change;
  redaction rowrelay.redaction;
  seal      rowrelay.seal;
begin
  if current_setting('transaction_isolation') <> 'read committed' then
    raise exception 'the log can only be redacted in a READ COMMITTED transaction'
      using errcode = 'object_not_in_prerequisite_state', detail = 'It has to see what others commit meanwhile.';
  end if;
  if captures = '{}' then
    raise exception 'table % was never captured', relation using errcode = 'undefined_object',
      hint = 'To list the captured tables: '
               || rowrelay.command('rowrelay status --tables', 'select relation from rowrelay.captures;');
  end if;
  if coalesce(cardinality(columns), 0) = 0 or array_position(columns, null) is not null then
    raise exception 'no columns were named' using errcode = 'invalid_parameter_value';
  end if;
  perform from rowrelay.mutex m where m.name = 'seal' for update; -- nothing is sealed meanwhile
  keys := rowrelay.spellings(captures, keys);
  if old_keys then
    keys := rowrelay.former_keys(captures, keys);
  end if;
  select array_agg(h.id order by h.id), array_agg(distinct h.day) into ids, days
    from rowrelay.change h where h.capture = any (captures) and h.key = any (keys);
  if ids is null then
    raise exception 'the log has no change of key "%" of table %', key, relation using errcode = 'no_data_found',
      hint = 'A key of several columns is a JSON array. To see how keys are written: '
               || rowrelay.command('rowrelay log %s', 'select key from rowrelay.history where relation = %L::regclass;',
                                   relation::text);
  end if;
  perform rowrelay.check_redactable(relation, captures, columns, ids);
  foreach name in array columns loop
    if not exists (select from pg_attribute a where a.attrelid = relation and a.attname = name and a.attnum > 0)
       and not exists (select from rowrelay.change h
                        where h.id = any (ids) and h.day = any (days)
                          and (json_typeof(h.old_row -> name) is not null
                               or json_typeof(h.new_row -> name) is not null)) then
      raise exception 'column "%" exists neither in table % nor in the log of this row', name, relation
        using errcode = 'undefined_column';
    end if;
  end loop;

  redaction.redacted_at := clock_timestamp();
  redaction.redacted_by := rowrelay.db_user();
  redaction.reason := reason;
  redaction.relation := relation;
  redaction.relation_name := coalesce(to_regclass(relation::text)::text, relation::text);
  redaction.keys := keys;
  redaction.columns := columns;
  redaction.change_ids := '{}';
  redaction.hashes_before := '{}';
  redaction.hashes_after := '{}';
  for change in
    select h.* from rowrelay.change h
     where h.id = any (ids) and h.day = any (days)
       and (rowrelay.has_value(h.old_row, columns) or rowrelay.has_value(h.new_row, columns))
     order by h.id
  loop
    redaction := rowrelay.redact_change(change, redaction);
  end loop;
  if redaction.change_ids = '{}' then
    return 0; -- nothing to remove
  end if;
  -- a target may have quoted the values when it refused a change that was then discarded
  update rowrelay.receipt r set error = null
   where r.error is not null and r.change_ids && redaction.change_ids
     and int8range(r.first_id, r.last_id, '[]') && (select int8range(min(id), max(id), '[]')
                                                    from unnest(redaction.change_ids) as id);
  insert into rowrelay.redaction (redacted_at, redacted_by, reason, relation, relation_name, keys, columns, change_ids,
                                  hashes_before, hashes_after)
  select redaction.redacted_at, redaction.redacted_by, redaction.reason, redaction.relation, redaction.relation_name,
         redaction.keys, redaction.columns, redaction.change_ids, redaction.hashes_before, redaction.hashes_after
  returning id into redaction.id;
  seal.redaction := redaction.id;
  seal.content := rowrelay.redaction_content(redaction);
  perform rowrelay.add_seal(seal);
  if exists (select from rowrelay.day d where d.archived_at is not null) then
    raise warning 'archives of days of the log may still contain the values'
      using hint = 'Restore these days, redact again and archive them again. '
                   || rowrelay.command('To restore one: rowrelay archive --restore FILE',
                                       'To list them: select day, archive from rowrelay.day '
                                       'where archive is not null;');
  end if;
  return cardinality(redaction.change_ids);
end
$$;
