-- Purpose:    returns the statement that logs and queues all rows of a writer's statement at once, with the same
--             contents as the row triggers and ids in the order of the rows. See rowrelay.statement_body().
-- Parameters: capture; operation: TG_OP; looks: whether to compare with what the table has now; is_paired: whether an
--             update needs both versions of each row; given: what stands for the day, who made the change and the
--             user, in this order
-- Result:     a statement that reads rowrelay_old and rowrelay_new
create or replace function rowrelay.statement_changes(capture rowrelay.capture, operation text, looks boolean,
                                                      is_paired boolean, given text[]) returns text
language plpgsql stable as $$
declare
  relation     constant regclass := capture.relation;
  name         constant text := rowrelay.full_name(relation);
  keeps_before constant boolean := rowrelay.keeps_before(capture);
  key_columns  constant smallint[] := rowrelay.live_key(capture);
  lane_columns constant smallint[] := coalesce(capture.lane_columns, key_columns);
  new_image    constant record := rowrelay.image_expression(capture, 'new');
  old_image    constant text := case when keeps_before then (rowrelay.image_expression(capture, 'old')).image end;
  old_keys     constant text := format('%s as key, %s as hash', rowrelay.key_expression(relation, key_columns, 'old'),
                                       rowrelay.hash_expression(capture.id, relation, lane_columns, 'old'));
  new_keys     constant text := format('%s as key, %s as hash', rowrelay.key_expression(relation, key_columns, 'new'),
                                       rowrelay.hash_expression(capture.id, relation, lane_columns, 'new'));
  marked       constant text := '''{"left_out":true}''::pg_catalog.json';
  -- Without OFFSET they might become a join with all of the table.
  is_last      constant text := format(
    ' cross join lateral (select exists (select from only %s as t where %s and t.* operator(pg_catalog.*=) new.* '
    'offset 0) as is_last offset 0) as l', name, rowrelay.same_key(capture, 't', 'new'));
  is_gone      constant text := format(
    ' cross join lateral (select not exists (select from only %s as t where %s offset 0) as is_last offset 0) as l',
    name, rowrelay.same_key(capture, 't', 'old'));
  caveat       constant text := case when new_image.text_columns is null then 'null::pg_catalog.json' else format(
    '(select case when c.names operator(pg_catalog.<>) ''{}'' then pg_catalog.json_build_object(''text_columns'', '
    'c.names) end from (select %s) as c(names))', new_image.text_columns) end;
  changes      text;
  lanes        text;
  logged       text;
begin
  if operation = 'DELETE' then
    changes := format('select %s as op, %s, %s as old_row, null::pg_catalog.json as new_row, %s as caveat '
                      'from rowrelay_old as old%s',
                      case when looks then 'case when l.is_last then ''d'' else ''r'' end' else '''d''' end,
                      old_keys,
                      format(case when looks then 'case when l.is_last then %s end' else '%s' end,
                             coalesce(old_image, rowrelay.key_row(capture))),
                      case when looks then format('case when not l.is_last then %s end', marked)
                           else 'null::pg_catalog.json' end,
                      case when looks then is_gone end);
  elsif is_paired then
    changes := format(
      'select case when w.step operator(pg_catalog.=) 1 then case when o.is_last then ''d'' else ''r'' end '
      'when not n.is_last then ''r'' when w.is_other then ''i'' else ''u'' end as op, '
      'case when w.step operator(pg_catalog.=) 1 then o.key else n.key end as key, '
      'case when w.step operator(pg_catalog.=) 1 then o.hash else n.hash end as hash, '
      'case when w.step operator(pg_catalog.=) 1 then case when o.is_last then o.key_row end%s end as old_row, '
      'case when w.step operator(pg_catalog.=) 2 and n.is_last then n.image end as new_row, '
      'case when not case when w.step operator(pg_catalog.=) 1 then o.is_last else n.is_last end then %s '
      'when w.step operator(pg_catalog.=) 2 then n.caveat end as caveat, w.is_other '
      -- a full join is never a nested loop, which would take the square of the time
      'from (select pg_catalog.row_number() over () as place, %s, %s as is_last, %s as key_row%s '
      'from rowrelay_old as old%s) as o '
      'full join (select pg_catalog.row_number() over () as place, %s, %s as is_last, %s as image, %s as caveat '
      'from rowrelay_new as new%s) as n on n.place operator(pg_catalog.=) o.place '
      'cross join lateral (select 1 as step, true as is_other where (o.key collate pg_catalog."C") '
      'operator(pg_catalog.<>) n.key union all select 2, (o.key collate pg_catalog."C") operator(pg_catalog.<>) '
      'n.key) as w order by o.place, w.step',
      case when keeps_before then ' when n.is_last and not w.is_other then o.image' end, marked,
      old_keys, case when looks then 'l.is_last' else 'true' end,
      case when keeps_before then old_image else rowrelay.key_row(capture) end,
      case when keeps_before then format(', %s as image', old_image) end,
      case when looks then is_gone end,
      new_keys, case when looks then 'l.is_last' else 'true' end, new_image.image, caveat,
      case when looks then is_last end);
  else
    changes := format('select %s as op, %s, null::pg_catalog.json as old_row, %s as new_row, %s as caveat '
                      'from rowrelay_new as new%s',
                      format(case when looks then 'case when l.is_last then %1$L else ''r'' end' else '%1$L' end,
                             lower(left(operation, 1) collate "C")),
                      new_keys,
                      format(case when looks then 'case when l.is_last then %s end' else '%s' end, new_image.image),
                      format(case when looks then 'case when l.is_last then %s else %s end' else '%s' end, caveat,
                             marked),
                      case when looks then is_last end);
  end if;

  select string_agg(format('(%s, %s)', rowrelay.lane_number(t.id, 0) + room, t.lanes), ', ' order by t.id)
    into lanes
    from rowrelay.route r join rowrelay.target t on t.id = r.target
    cross join lateral rowrelay.waiting_room(r.capture, r.target) as room
   where r.capture = capture.id and r.until_id is null and t.dropped_at is null;
  logged := format(
    'insert into rowrelay.change (id, txid, captured_at, day, capture, op, key, actor, db_user, application_name, '
    'client_addr, old_row, new_row, caveat) '
    'select c.id, pg_catalog.pg_current_xact_id(), pg_catalog.clock_timestamp(), %s, %s, c.op::pg_catalog."char", '
    'c.key, %s, %s, pg_catalog.current_setting(''application_name''), rowrelay.client_addr(), c.old_row, c.new_row, '
    'case when %s is null then c.caveat else rowrelay.traced(c.caveat) end from told as c', given[1], capture.id,
    -- as rowrelay.add_change() tells of a key that was given away
    case when is_paired then format('case when c.is_other and c.op operator(pg_catalog.=) ''d'' then coalesce(%1$s, '
                                    'rowrelay.login_name()) else %1$s end', given[2])
         else given[2] end,
    given[3], given[2]);
  return concat(
    'with told as materialized (select rowrelay.next_change_id() as id, ',
    -- as pg_column_size() measures a value that is not packed yet
    'coalesce(pg_catalog.int4pl(4, pg_catalog.octet_length(w.new_row::pg_catalog.text)), 0)',
    case when keeps_before or is_paired then
      ' operator(pg_catalog.+) coalesce(pg_catalog.octet_length(w.old_row::pg_catalog.text), 0)'
      ' operator(pg_catalog.+) case when w.old_row::pg_catalog.text is null then 0'
      || case when is_paired then
           -- as rowrelay.enqueue() measures it: packed
           ' when w.op operator(pg_catalog.=) ''d'''
           ' and pg_catalog.octet_length(w.old_row::pg_catalog.text) operator(pg_catalog.<) 127 then 1'
         else '' end
      || ' else 4 end'
    end,
    ' as bytes, w.* from (', changes, ' offset 0) as w)',
    case when lanes is null then ' ' || logged
         else format(', logged as (%s) insert into rowrelay.queue (change_id, lane, day, bytes) '
                     'select c.id, pg_catalog.int4pl(t.first, pg_catalog.mod(pg_catalog.int4and(c.hash, 2147483647), '
                     't.lanes)), %s, c.bytes from told as c cross join (values %s) as t(first, lanes)'
                     ' where c.op operator(pg_catalog.<>) ''r''',
                     logged, given[1], lanes) end);
end
$$;
