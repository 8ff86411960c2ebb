-- Purpose:    notes what older rows have in columns that were altered, where no change in the log says it. What they
--             have in columns that were added is stored (rowrelay.older_value) and delivered with them. For the rest it
--             notes that targets lack changes (rowrelay.gap): where a column was given another type, or other values by
--             that; where one was dropped and another has its name; where one was renamed: the target may have
--             its values under the former name; where nobody knows what rows had in an added one, because they were
--             written anew since, or partitions or children differ in it. The same where a row filter names an altered
--             column (ALTER COLUMN SET EXPRESSION): rows may match now, or no longer, though nobody has written them.
-- Parameters: capture; its shape until now; its shape from now on
create or replace function rowrelay.note_older_values(capture rowrelay.capture, was rowrelay.shape,
                                                      shape rowrelay.shape) returns void
language plpgsql as $$
declare
  files      constant record := rowrelay.note_files(capture);
  altered    smallint[];
  matters    smallint[]; -- columns that are captured, or decide what is
  is_renamed boolean;
  is_unknown boolean;
begin
  insert into rowrelay.older_value as o (capture, number, numbered_at, value)
  select capture.id, v.number, rowrelay.numbered_here(capture.relation), v.value
    from rowrelay.older_values(capture) as v
      on conflict on constraint older_value_pkey do update set value = excluded.value
   where o.value <> excluded.value;
  -- a mirror has no rows either, unless their keys are others there
  if was.id is null
     or not files.altered operator(pg_catalog.&&) capture.key_columns
        and not exists (select from unnest(rowrelay.captured_tables(capture)) as t(relation)
                         where pg_relation_size(t.relation) > 0) then
    return;
  end if;
  altered := array(select unnest(files.altered)
                   union
                   -- a name that another column had at any time
                   select unnest(array[o.number, n.number])
                     from unnest(shape.numbers, shape.names) as n(number, name)
                     join rowrelay.shape s on s.capture = note_older_values.capture.id
                    cross join unnest(s.numbers, s.names) as o(number, name)
                    where o.name = n.name and o.number <> n.number
                      and (n.number, n.name) not in (select * from unnest(was.numbers, was.names)));
  is_renamed := exists (select from unnest(was.numbers, was.names) as w(number, name)
                          join unnest(shape.numbers, shape.names) as n(number, name)
                            on n.number = w.number and n.name <> w.name);
  is_unknown := exists (select from unnest(shape.numbers, shape.names) as n(number, name)
                         where n.number <> all (was.numbers) and n.number <> all (was.hidden)
                           and n.number not in (select v.number from rowrelay.older_values(capture) as v)
                           and (files.is_new or rowrelay.has_other_parts(capture, n.name::name)));
  matters := shape.numbers || array(
    select d.refobjsubid::smallint
      from pg_trigger t
      join pg_depend d on d.classid = 'pg_trigger'::regclass and d.objid = t.oid and d.refobjid = t.tgrelid
       and d.refobjsubid > 0
     where t.tgrelid = note_older_values.capture.relation and t.tgname = '!rowrelay_insert');
  perform rowrelay.note_gap(capture.id, rowrelay.targets_of_columns(capture.id, altered, matters) || array(
    select t.id
      from rowrelay.route r
      join rowrelay.target t on t.id = r.target
     where r.capture = note_older_values.capture.id and r.until_id is null and rowrelay.keeps_state(t)
       and (is_renamed or is_unknown and rowrelay.is_mirror(t))));
end
$$;
