-- Purpose:    verifies that all rows are as they were before the changes
-- Parameters: steps in the order of their changes; what rowrelay.rows_alike() returned for them before they were undone
-- Errors:     a row is not, because a trigger or default of its table changed what was written
create or replace function rowrelay.check_undone(steps rowrelay.undo_step[], alike_before bigint[]) returns void
language plpgsql as $$
declare
  row_was   record;
  is_undone boolean;
  obstacle  text;
begin
  for row_was in
    select a.relation, a.change_id
      from rowrelay.rows_alike(steps) as a
     where a.n is distinct from alike_before[a.place] + a.added
     order by a.change_id limit 1
  loop
    raise exception 'table % would not have the row that it had before change %', row_was.relation, row_was.change_id
      using errcode = 'triggered_data_change_violation',
            detail = 'There would be more or fewer rows with its values than before. Nothing was undone.',
            hint = format('A trigger or default of the table changes what is written. Without %s you get the '
                          'statements, to run by hand.', rowrelay.command('--apply', 'apply'));
  end loop;
  for row_was in
    -- each row before its first change; one whose key was updated is checked under both keys
    with row_was as materialized (
      select distinct on (s.relation, k.key) k.key, s.relation, s.change_id, s.capture,
             case when k.key = s.be_key then s.be else s.was end as key_texts,
             case when k.key = s.be_key then s.be end as texts
        from unnest(steps) as s, unnest(array[s.was_key, nullif(s.be_key, s.was_key)]) as k(key)
       where k.key is not null
       order by s.relation, k.key, s.change_id
    ), asked as materialized (
      select array_agg(w.capture order by w.relation, w.key) as captures,
             array_agg(w.key_texts order by w.relation, w.key) as texts
        from row_was w
    )
    select w.*,
           format(case when w.texts is null then 'select not exists (select from %s as t where %s)'
                       else 'select exists (select from %s as t where %s)' end, rowrelay.full_name(w.relation),
                  case when w.texts is null then coalesce(nullif(r.by_key, ''), r.exactly) else r.exactly end) as query
      from (select w.*, row_number() over (order by w.relation, w.key) as place from row_was w) as w
      join (select r.* from asked a cross join rowrelay.row_conditions(a.captures, a.texts) as r) as r using (place)
     order by w.place
  loop
    execute row_was.query into is_undone;
    continue when is_undone;
    obstacle := rowrelay.undo_obstacle(row_was.capture, row_was.key_texts, row_was.texts);
    if obstacle is not null then
      raise exception 'row % of table % would not be as it was before change %', row_was.key, row_was.relation,
        row_was.change_id
        using errcode = 'triggered_data_change_violation', detail = obstacle || '. Nothing was undone.',
              hint = format('A trigger or default of the table changes what is written. Without %s you get the '
                            'statements, to run by hand.', rowrelay.command('--apply', 'apply'));
    end if;
  end loop;
end
$$;
