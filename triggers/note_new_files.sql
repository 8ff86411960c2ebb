-- Purpose:    notes the files of tables whose rows were written anew, or truncated, while their columns stayed as they
--             are: what is altered later has nothing to do with it; see rowrelay.note_files(), which notes the others
create or replace function rowrelay.note_new_files() returns void
language sql as $$
  -- in one statement: who alters a column meanwhile must be seen with the table's new file, or not at all
  with here as (
    select f.capture, array_agg(coalesce(r.relfilenode, 0) order by u.position) as files
      from rowrelay.table_files f
     cross join unnest(f.relations) with ordinality as u(relation, position)
      left join pg_class r on r.oid = u.relation
     group by f.capture
  )
  update rowrelay.table_files f
     set files = h.files
    from here h
    join rowrelay.capture c on c.id = h.capture
   where f.capture = h.capture and f.files <> h.files
     and (f.numbers, f.versions) = (select array_agg(a.attnum order by a.attnum),
                                           array_agg(rowrelay.column_version(a.atttypmod, a.xmin) order by a.attnum)
                                      from pg_attribute a
                                     where a.attrelid = c.relation and a.attnum > 0 and not a.attisdropped)
$$;
