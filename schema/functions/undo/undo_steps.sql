-- Purpose:    returns the steps that undo changes, one each, in the order of the changes. A delete and the insert right
--             after it are one step when they are one row: an update of a key, or one that moves a row to another
--             partition, is captured so.
-- Parameters: changes of one transaction
-- Result:     steps; none for what changed no row (snapshots, barriers, refreshed documents)
-- Errors:     a change that cannot be undone: a truncate, one that could not be captured, one without the images it
--             takes, one of a row that its statement wrote several times, an update that a row filter turned into an
--             insert or delete
create or replace function rowrelay.undo_steps(changes rowrelay.change[]) returns rowrelay.undo_step[]
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  pair    record;
  change  rowrelay.change;
  capture rowrelay.capture;
  step    rowrelay.undo_step;
  last    rowrelay.undo_step;
  steps   rowrelay.undo_step[] := '{}';
begin
  -- The image before is that of one of several rows with this key that came and went in one statement.
  select c.* into change
    from unnest(changes) as c
   where c.op = 'r' and c.caveat -> 'left_out' is not null
   order by c.id limit 1;
  if found then
    select c.* into strict capture from rowrelay.capture c where c.id = change.capture;
    raise exception 'row % of table % cannot be undone: one statement wrote it several times', change.key,
      capture.relation_name
      using errcode = 'object_not_in_prerequisite_state',
            detail = 'A trigger or function wrote it too, and the log does not have the row as it was in between.',
            hint = 'Correct the row by hand; for what the log has: '
                     || rowrelay.command('rowrelay log %s',
                                         'select * from rowrelay.history where relation = %L::regclass;',
                                         capture.relation_name);
  end if;
  for pair in
    -- the previous change of each row: of this transaction, else the last one before it
    with spelled as materialized (
      select s.* from rowrelay.one_spelling(array(select c.capture from unnest(changes) as c),
                                            array(select c.key from unnest(changes) as c)) as s
    ), given as materialized (
      select c as change, coalesce(s.row_key, c.key) as row_key,
             lag(c) over (partition by c.capture, coalesce(s.row_key, c.key) order by c.id) as previous
        from unnest(changes) as c left join spelled s on s.capture = c.capture and s.key = c.key
       where c.op in ('i', 'u', 'd', 't')
    ), wanted as materialized (
      select array_agg((g.change).id order by (g.change).id) as ids,
        array_agg(k.relation order by (g.change).id) as relations,
             array_agg((g.change).key order by (g.change).id) as keys
        from given g join rowrelay.capture k on k.id = (g.change).capture
       where (g.previous).id is null and (g.change).key is not null
         and ((g.change).op = 'u' and (g.change).old_row is null or (g.change).op = 'd')
    ), former as materialized (
      select w.ids[l.position] as id, l.change_id, l.day
        from wanted w
       cross join lateral rowrelay.latest_changes(w.relations, w.keys, null, w.ids, '{i,u,d,s}') as l
    )
    select g.change, g.row_key,
           case when (g.change).key is null then null when (g.previous).id is not null then g.previous
                else h.former end as previous
      from given g
      left join former f on f.id = (g.change).id
      left join lateral (select row(c.*)::rowrelay.change as former from rowrelay.readable_change c
                         where c.id = f.change_id and c.day = f.day offset 0) as h on true
     order by (g.change).id
  loop
    change := pair.change;
    if capture.id is distinct from change.capture then
      select c.* into strict capture from rowrelay.capture c where c.id = change.capture;
      if not exists (select from pg_class r where r.oid = capture.relation) then
        raise exception 'change % cannot be undone: table % is gone', change.id, capture.relation_name
          using errcode = 'undefined_table';
      end if;
    end if;
    if change.op = 't' then
      raise exception 'change % cannot be undone: it truncated table %', change.id, capture.relation
        using errcode = 'object_not_in_prerequisite_state',
              hint = 'The rows are in the log, at a time before it: '
                       || rowrelay.command('rowrelay log %1$s --as-of TIME',
                                           'insert into %1$s select * from rowrelay.as_of(null::%1$s, ''TIME'');',
                                           capture.relation::text);
    elsif change.caveat -> 'problem' is not null or change.op <> 'd' and change.new_row is null then
      raise exception 'change % of table % cannot be undone: it could not be captured', change.id, capture.relation
        using errcode = 'object_not_in_prerequisite_state', detail = change.caveat ->> 'problem';
    end if;
    if change.caveat -> 'filtered' is not null then
      raise exception 'change % of table % cannot be undone: %', change.id, capture.relation,
                      case change.op when 'i' then 'the row existed before' else 'the row still exists' end
        using errcode = 'object_not_in_prerequisite_state',
              detail = format(
                  'An update made it %s the row filter (%s), and the log does not have the row from before it.',
                              case change.op when 'i' then 'meet' else 'fail' end, capture.row_filter),
              hint = 'Correct the row by hand.';
    end if;
    perform rowrelay.check_not_redacted(change, capture);

    step := row(change.id, change.id, change.capture, capture.relation, null, null, null, null);
    if change.op <> 'd' then
      step.was_key := pair.row_key;
      step.was := rowrelay.row_texts(capture, change, change.new_row);
    end if;
    if change.op <> 'i' then
      step.be_key := pair.row_key;
      step.be := rowrelay.row_before(change, capture, pair.previous);
    end if;
    if change.op = 'i' and last.was is null and last.be is not null and rowrelay.is_same_row(capture, last, step) then
      step.first_id := last.first_id;
      step.be_key := last.be_key;
      step.be := last.be;
      steps[cardinality(steps)] := step;
    else
      steps := steps || step;
    end if;
    last := step;
  end loop;
  return steps;
end
$$;
