-- Purpose:    checks whether the rows of a captured table can be copied piece by piece
-- Parameters: capture
-- Errors:     it has no key; it, or a partition, cannot be read piece by piece, or not all of its rows can be seen
create or replace function rowrelay.check_pieces(capture rowrelay.capture) returns void
language plpgsql as $$
declare
  part regclass;
begin
  if cardinality(rowrelay.live_key(capture)) = 0 then
    raise exception 'table % has no key', capture.relation using errcode = 'object_not_in_prerequisite_state',
      detail = 'A row that is written while it is copied would arrive twice, because nothing tells that both are one.',
      hint = 'Give it a primary key, or name columns that identify a row: rowrelay capture --key.';
  end if;
  -- a partition may not exist yet, or have gone, when its turn comes
  for part in
    select m from unnest(rowrelay.captured_tables(capture)) as m join pg_class c on c.oid = m and c.relkind = 'r'
     where rowrelay.backfill_order(m, '{}') = '{}'
  loop
    raise exception 'table % has no order in which it can be read piece by piece', part
      using errcode = 'object_not_in_prerequisite_state',
            hint = 'Make a unique index on columns that are not null.';
  end loop;
  perform rowrelay.check_sees_all(m) from unnest(rowrelay.captured_tables(capture)) as m;
end
$$;
