-- Purpose:    notes which values older rows have in columns that were added to a captured table (rowrelay.older_value).
--             Where that is not known, because the rows were written anew at the same time or since, mirrors may have
--             null there: it notes a gap of them (rowrelay.gap).
-- Parameters: capture; its shape until now; its shape from now on
create or replace function rowrelay.note_older_values(capture rowrelay.capture, was rowrelay.shape,
                                                      shape rowrelay.shape) returns void
language plpgsql as $$
declare
  is_new_file constant boolean := rowrelay.note_files(capture);
begin
  insert into rowrelay.older_value as o (capture, number, numbered_at, value)
  select capture.id, v.number, rowrelay.numbered_here(capture.relation), v.value
    from rowrelay.older_values(capture) as v
      on conflict on constraint older_value_pkey do update set value = excluded.value
   where o.value <> excluded.value;
  if is_new_file
     and exists (select from unnest(shape.numbers) as n(number)
                  where n.number <> all (was.numbers) and n.number <> all (was.hidden)
                    and n.number not in (select v.number from rowrelay.older_values(capture) as v))
     and exists (select from unnest(rowrelay.captured_tables(capture)) as t(relation)
                  where pg_relation_size(t.relation) > 0) then
    perform rowrelay.note_gap(capture.id, array(select t.id
                                                  from rowrelay.route r
                                                  join rowrelay.target t on t.id = r.target
                                                 where r.capture = note_older_values.capture.id and r.until_id is null
                                                   and rowrelay.is_mirror(t)));
  end if;
end
$$;
