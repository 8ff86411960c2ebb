-- Purpose:    refuses a table if another capture covers it, or one of its partitions or children: two captures of one
--             row would deliver its changes in two independent orders
-- Parameters: relation
-- Errors:     names the other table, and one that belongs to both
create or replace function rowrelay.check_overlap(relation regclass) returns void
language plpgsql stable as $$
declare
  wanted rowrelay.capture;
  other  regclass;
  shared regclass;
begin
  wanted.relation := relation;
  -- upwards from the tables, because checking each capture's tables would take longer with every capture
  with recursive belongs(relation, upper) as (
    select m, m::oid from unnest(rowrelay.captured_tables(wanted)) as m
    union
    select b.relation, i.inhparent from belongs b join pg_inherits i on i.inhrelid = b.upper
  )
  select c.relation, b.relation into other, shared
    from belongs b
    join rowrelay.capture c on c.relation = b.upper and c.released_at is null
   where c.relation <> check_overlap.relation
   order by c.id, b.relation
   limit 1;
  if found then
    raise exception 'table % is already captured with table %', relation, other using errcode = 'duplicate_object',
      detail = format('Rows of %s would be captured twice.', shared),
      hint = 'Release that table first: '
               || rowrelay.command('rowrelay release %s', 'select rowrelay.release_table(%L);', other::text);
  end if;
end
$$;
