-- Purpose:    verifies that all rows are as they were before the changes
-- Parameters: steps in the order of their changes
-- Errors:     a row is not, because a trigger or default of its table changed what was written
create or replace function rowrelay.check_undone(steps rowrelay.undo_step[]) returns void
language plpgsql as $$
declare
  row_was  record;
  obstacle text;
begin
  for row_was in
    -- each row before its first change; one whose key was updated is checked under both keys
    select distinct on (s.relation, k.key) k.key, s.relation, s.change_id, s.capture,
           case when k.key = s.be_key then s.be else s.was end as key_texts,
             case when k.key = s.be_key then s.be end as texts
      from unnest(steps) as s, unnest(array[s.was_key, nullif(s.be_key, s.was_key)]) as k(key)
     where k.key is not null
     order by s.relation, k.key, s.change_id
  loop
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
