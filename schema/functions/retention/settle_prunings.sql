-- Purpose:    counts prunings that were rolled back, because rowrelay.sees_log() would stay false after them
create or replace function rowrelay.settle_prunings() returns void
language sql as $$
  -- A session that is dropping a day holds the row.
  update rowrelay.source s set prunings = pg_sequence_last_value('rowrelay.prunings'::regclass)
   where s.only_row in (select k.only_row from rowrelay.source k for update skip locked)
     and s.prunings < pg_sequence_last_value('rowrelay.prunings'::regclass)
$$;
