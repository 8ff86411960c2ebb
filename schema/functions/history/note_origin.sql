-- Purpose:    lets a row know which transaction wrote it, for rowrelay.is_restored()
create or replace function rowrelay.note_origin() returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  update rowrelay.migration m set written_by = 0 where m.version = 1;
  -- this version of the row is written by the same (sub)transaction as the one before
  update rowrelay.migration m set written_by = m.xmin::text::bigint where m.version = 1;
end
$$;
