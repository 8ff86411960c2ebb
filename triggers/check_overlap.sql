-- Purpose:    refuses a table whose rows, or those of one of its partitions or children, another capture sees: two
--             captures of one row would be two orders of one key
-- Parameters: relation
-- Errors:     names the other table, and one that belongs to both
create or replace function rowrelay.check_overlap(relation regclass) returns void
language plpgsql stable as $$
declare
  wanted rowrelay.capture;
  tables regclass[];
  other  regclass;
  shared regclass;
begin
  wanted.relation := relation;
  tables := rowrelay.captured_tables(wanted);
  select c.relation, m.relation into other, shared
    from rowrelay.capture c
    cross join lateral unnest(rowrelay.captured_tables(c)) as m(relation)
   where c.released_at is null and c.relation <> check_overlap.relation and m.relation = any (tables)
   order by c.id
   limit 1;
  if found then
    raise exception 'table % is captured already together with %', relation, other using errcode = 'duplicate_object',
      detail = format('Rows of %s would be captured twice.', shared),
      hint = format('Release that first: select rowrelay.release_table(%L);', other);
  end if;
end
$$;
