-- Purpose:    stores the numbers that columns have here, in a database that was restored from a dump; see
--             rowrelay.renumbered(). Whoever changes captures in one does this first, and each process that connects to
--             another database than before. Captures of tables that were gone when the dump was made end here.
create or replace function rowrelay.renumber() returns void
language plpgsql set search_path = pg_catalog, pg_temp set jit = off as $$
declare
  -- once, for thousands of captures
  here    constant text := concat_ws(' ', rowrelay.system_identifier(), rowrelay.database_oids());
  was     rowrelay.capture;
  capture rowrelay.capture;
begin
  for was in
    select c.* from rowrelay.capture c join pg_class r on r.oid = c.relation
     where c.numbered_at <> here || ' ' || c.relation::oid
     order by c.id for update of c
  loop
    -- A dump has the number of a table that was gone, and here that is another table, which nobody chose.
    if rowrelay.full_name(was.relation) is distinct from was.relation_name
       and not exists (select from rowrelay.own_triggers(was))
       and (was.released_at is null or was.column_names is distinct from rowrelay.column_names(was.relation)) then
      update rowrelay.capture c set relation = 0, released_at = coalesce(c.released_at, now()) where c.id = was.id;
      perform rowrelay.end_route(was.id, null);
      continue;
    end if;
    capture := rowrelay.renumbered(was);
    update rowrelay.capture c
       set key_columns = capture.key_columns, lane_columns = capture.lane_columns,
           only_columns = capture.only_columns, exclude_columns = capture.exclude_columns, mask = capture.mask,
           numbered_at = capture.numbered_at, column_names = capture.column_names
     where c.id = was.id;
    -- A column that is not here any more may be one that a document reads: then each update refreshes it.
    update rowrelay.document_source s
       set key_column = (rowrelay.numbers_here(was, array[s.key_column]))[1],
           only_columns = (select case when 2000 >= all (n.numbers) then n.numbers end
                             from rowrelay.numbers_here(was, s.only_columns) as n(numbers))
     where s.capture = was.id;
    insert into rowrelay.older_value (capture, number, numbered_at, value)
    select o.capture, n.numbers[1], capture.numbered_at, o.value
      from rowrelay.older_value o
     cross join lateral rowrelay.numbers_here(was, array[o.number]) as n(numbers)
     where o.capture = was.id and o.numbered_at = was.numbered_at
        on conflict on constraint older_value_pkey do nothing;
    -- All rows were written anew, and nobody knows what was altered before the dump was made but by its type.
    update rowrelay.table_files f
       set numbered_at = capture.numbered_at, relations = array[capture.relation], files = '{1}',
           numbers = n.numbers, types = n.types, versions = n.versions, defaults = n.defaults
      from (select coalesce(array_agg(a.attnum order by a.attnum), '{}') as numbers,
                   coalesce(array_agg(coalesce(o.type, '') order by a.attnum), '{}') as types,
                   coalesce(array_agg(rowrelay.column_version(a.atttypmod, a.xmin) order by a.attnum), '{}')
                     as versions,
                   coalesce(array_agg(coalesce(d.oid, 0) order by a.attnum), '{}') as defaults
              from rowrelay.table_files t
             cross join lateral unnest(rowrelay.numbers_here(was, t.numbers), t.types) as o(number, type)
              join pg_attribute a on a.attrelid = capture.relation and a.attnum = o.number and not a.attisdropped
              left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
             where t.capture = was.id) as n
     where f.capture = was.id and f.numbered_at = was.numbered_at;
    update rowrelay.shape s
       set numbers = rowrelay.numbers_here(was, s.numbers),
           hidden = rowrelay.numbers_here(was, s.hidden)
     where s.capture = was.id;
  end loop;
end
$$;
