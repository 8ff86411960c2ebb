-- Purpose:    refuses a captured table that cannot be copied piece by piece
-- Parameters: capture
-- Errors:     it has no key; it or a partition has no suitable unique index; row-level security hides rows
create or replace function rowrelay.check_pieces(capture rowrelay.capture) returns void
language plpgsql as $$
declare
  part regclass;
begin
  if cardinality(rowrelay.live_key(capture)) = 0 then
    raise exception 'table % has no key', capture.relation using errcode = 'object_not_in_prerequisite_state',
      detail = 'A row that is written while it is copied would arrive twice.',
      hint = 'Add a primary key, or name columns that identify a row: '
               || rowrelay.command('rowrelay capture %s --key COLUMNS',
                                   'select rowrelay.capture_table(%L, key => ''{COLUMNS}'');', capture.relation::text);
  end if;
  -- only a first check: partitions may come and go before they are read
  for part in
    select m from unnest(rowrelay.captured_tables(capture)) as m join pg_class c on c.oid = m and c.relkind = 'r'
     where rowrelay.backfill_order(m, '{}') = '{}'
  loop
    raise exception 'table % has no unique index by which it can be copied piece by piece', part
      using errcode = 'object_not_in_prerequisite_state',
            hint = 'Create a unique index on NOT NULL columns.';
  end loop;
  perform rowrelay.check_sees_all(m) from unnest(rowrelay.captured_tables(capture)) as m;
end
$$;
