-- Purpose:    stores the numbers that columns have here, in a database that was restored from a dump; see
--             rowrelay.renumbered(). Whoever changes captures does this first, and each process when it connects to
--             another database than before.
create or replace function rowrelay.renumber() returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
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
    update rowrelay.shape s
       set numbers = rowrelay.numbers_here(was, s.numbers),
           hidden = rowrelay.numbers_here(was, s.hidden)
     where s.capture = was.id;
  end loop;
end
$$;
