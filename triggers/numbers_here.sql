-- Purpose:    returns the numbers that columns of a captured table have here, if what is given may be those of another
--             table, of which a dump was made; see rowrelay.renumbered()
-- Parameters: capture as it is stored; numbers that were stored with it
-- Result:     numbers in their order; one that no column has (from 2001 on) for a column that is not here; 0 stays.
--             null for null
create or replace function rowrelay.numbers_here(capture rowrelay.capture, numbers smallint[]) returns smallint[]
language plpgsql stable as $$
begin
  if capture.numbered_at is null or capture.numbered_at = rowrelay.numbered_here(capture.relation)
     or numbers is null then
    return numbers;
  end if;
  return array(select case when u.n not between 1 and 2000 then u.n else coalesce(a.attnum, u.n + 2000::smallint) end
                 from unnest(numbers) with ordinality as u(n, position)
                 left join pg_attribute a on a.attrelid = capture.relation and a.attname = capture.column_names[u.n]
                   and a.attnum > 0 and not a.attisdropped
                order by u.position);
end
$$;
