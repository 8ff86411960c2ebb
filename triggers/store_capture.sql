-- Purpose:    the part of rowrelay.capture_table() before any table is locked: checks what is wanted and stores it
-- Parameters: as for rowrelay.capture_table(); new_id: number of a new capture; null: the next one; per:
--             as for that function; path: where names in row_filter are looked up
-- Result:     was: the capture as it was; its id is null if the table was not captured. capture: as it is now
--             Warns as rowrelay.capture_table() does.
-- Errors:     as for rowrelay.capture_table(), without those of locks
create or replace function rowrelay.store_capture(
  relation regclass, key text[], lane text[], columns text[], exclude text[], mask jsonb, row_filter text, before text,
  capture_origin boolean, reset boolean, new_id integer, per text, path text,
  out was rowrelay.capture, out capture rowrelay.capture)
language plpgsql as $$
declare
  begun       rowrelay.capture; -- as a new one begins
  former      rowrelay.capture; -- what a person may remember of the table
  documents   text;
  shown       text;
begin
  perform rowrelay.lock_configuration();
  perform rowrelay.check_capturable(relation);
  select c.* into was from rowrelay.capture c
   where c.relation = store_capture.relation and c.released_at is null for update;
  if was.id is null then
    insert into rowrelay.capture as c (id, relation, relation_name, chosen_name, key_columns, key_is_exact,
                                       lane_columns, only_columns, exclude_columns, mask, row_filter, before,
                                       capture_origin)
    overriding system value
    values (coalesce(new_id, nextval('rowrelay.capture_id_seq')), relation, rowrelay.full_name(relation),
            rowrelay.full_name(relation), '{}', false, null, null, '{}', '{}', null, 'none', false)
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
      begun.per := 'row';
    end if;
  end if;
  capture := rowrelay.wanted_capture(relation, begun, key, lane, columns, exclude, mask, row_filter, before,
                                     capture_origin, per);
  -- Resolved once, when it is given: what is made later, perhaps by others, under a name in it means nothing.
  if capture.row_filter is null then
    capture.resolved_filter := null;
  elsif capture.row_filter is distinct from was.row_filter then
    perform rowrelay.filter_expression(relation, capture.row_filter, 'old', path);
    capture.resolved_filter := rowrelay.filter_expression(relation, capture.row_filter, 'new', path);
  end if;

  update rowrelay.capture c
     set relation_name = capture.relation_name, chosen_name = capture.relation_name,
         key_columns = capture.key_columns, key_is_exact = capture.key_is_exact,
         key_is_chosen = capture.key_is_chosen, lane_columns = capture.lane_columns,
         only_columns = capture.only_columns, only_names = capture.only_names,
         exclude_columns = capture.exclude_columns, exclude_names = capture.exclude_names,
         mask = capture.mask, mask_names = capture.mask_names, row_filter = capture.row_filter,
         resolved_filter = capture.resolved_filter, before = capture.before,
         capture_origin = capture.capture_origin, per = capture.per
   where c.id = capture.id
  returning c.* into capture;
  -- A user who changes one option may not notice what else it uncovers; nor one who captures a table that was released,
  -- or dropped and created, or has the name of one that was renamed, that it begins anew.
  former := was;
  if was.id is null then
    select c.* into former from rowrelay.capture c
     where (c.relation = store_capture.relation or capture.relation_name in (c.relation_name, c.chosen_name))
       and c.id <> capture.id
     order by c.id desc limit 1;
  end if;
  select string_agg(format('%I', a.attname), ', ' order by a.attnum) into shown
    from pg_attribute a
    cross join lateral (
      select case when former.relation = a.attrelid
                  then a.attnum = any (former.exclude_columns) or former.mask ? a.attnum::text
                    or a.attnum <> all (former.only_columns)
                  else a.attname = any (former.exclude_names) or former.mask_names ? a.attname::text
                    or a.attname <> all (former.only_names) end) as f(was_hidden)
   where a.attrelid = store_capture.relation and a.attnum > 0 and not a.attisdropped and f.was_hidden
     and (a.attnum = any (capture.exclude_columns) or capture.mask ? a.attnum::text
          or a.attnum <> all (capture.only_columns)) is not true;
  if shown is not null then
    raise warning 'table %: columns % are no longer left out or masked', relation, shown
      using hint = 'If that is not what you want, capture it again: '
                   || rowrelay.command('rowrelay capture %s --exclude COLUMNS',
                                       'select rowrelay.capture_table(%L, exclude => ''{COLUMNS}'');', relation::text);
  end if;
  if former.row_filter is not null and capture.row_filter is null then
    raise warning 'table %: rows that do not meet (%) are no longer left out', relation, former.row_filter
      using hint = 'If that is not what you want, capture it again: '
                   || rowrelay.command('rowrelay capture %s --where %s',
                                       'select rowrelay.capture_table(%L, row_filter => %L);', relation::text,
                                       former.row_filter);
  end if;
  -- Rows that stay as they are are not captured again.
  if was.id is not null
     and (shown is not null or was.mask <> capture.mask or was.row_filter is distinct from capture.row_filter)
     and exists (select from unnest(rowrelay.captured_tables(capture)) as t(relation)
                  where pg_relation_size(t.relation) > 0) then
    perform rowrelay.note_gap(capture.id, array(
      select t.id from rowrelay.route r join rowrelay.target t on t.id = r.target
       where r.capture = store_capture.capture.id and r.until_id is null and rowrelay.keeps_state(t)));
  end if;
  if capture.key_columns operator(pg_catalog.&&) (capture.exclude_columns || array(select m::smallint
                                                              from jsonb_object_keys(capture.mask) as m))
     or not capture.key_columns operator(pg_catalog.<@) coalesce(capture.only_columns, capture.key_columns) then
    raise exception 'the key of table % cannot be left out or masked', relation
      using errcode = 'invalid_parameter_value',
            hint = 'Choose other columns, or another key.';
  end if;

  select string_agg(c.oid::regclass::text, ', ' order by c.oid::regclass::text) into shown
    from pg_class c where c.oid = any (rowrelay.captured_tables(capture)) and c.relpersistence = 'u';
  if shown is not null then
    raise warning 'a crash empties unlogged tables without firing triggers: %', shown
      using hint = 'After a crash, remove the lost rows from a mirror: ' || rowrelay.verify_commands(relation, true);
  end if;

  shown := rowrelay.foreign_parts(relation);
  if shown is not null then
    raise warning 'table %: %', relation, shown
      using hint = 'After such a change, repair a mirror: ' || rowrelay.verify_commands(relation, true)
                   || '; a table without a key: empty it there, and copy it again';
  end if;

  select string_agg(format('%I', a.attname), ', ' order by a.attnum) into shown
    from rowrelay.image_columns(capture) as i
    join pg_attribute a on a.attname <> all (i.leave_out) and (a.attname = any (i.keep)) is not false
   where a.attrelid = store_capture.relation and a.attnum > 0 and not a.attisdropped
     and rowrelay.base_type(a.atttypid) = 'oid'::regtype and not i.masks::jsonb ? a.attname::text;
  if shown is not null then
    raise warning 'table %: large objects are not copied, only their numbers in columns %', relation, shown
      using hint = 'If these are numbers of large objects, copy those yourself, or keep the data in columns of type '
                   'bytea (lo_get() reads an object).';
  end if;

  if row_security_active(relation) then
    raise warning 'row-level security hides rows of table % from role %, which owns schema rowrelay', relation,
      current_user
      using detail =
        'If triggers of the table change rows that the same statement writes, changes may be captured in the '
        'wrong order.',
            hint = format('Have a superuser run: alter role %I bypassrls; or the table''s owner: '
                          'alter table %s no force row level security;', current_user, relation);
  end if;

  perform rowrelay.take_over(capture, was.id is null);
  select string_agg(distinct format('"%s"', t.name), ', ') into documents
    from rowrelay.document_source s join rowrelay.target t on t.id = s.document
   where s.capture = capture.id and t.dropped_at is null
     and (s.key_column = any (capture.exclude_columns) or s.key_column <> all (capture.only_columns)
          or capture.mask ? s.key_column::text);
  if documents is not null then
    raise exception 'the column of table % with the keys of documents % cannot be left out or masked',
      relation, documents
      using errcode = 'invalid_parameter_value';
  end if;
  perform rowrelay.check_document_columns(capture);

  perform rowrelay.check_children(capture);
end
$$;
