-- Purpose:    captures the rows of a table that was truncated: other triggers have inserted them since, whose changes
--             are in the log before the truncate
-- Parameters: capture; the truncated table or partition
create or replace function rowrelay.add_present(capture rowrelay.capture, relation regclass) returns void
language plpgsql as $$
begin
  if rowrelay.sees_rows(relation) then
    execute format('select rowrelay.record_row($1, ''INSERT'', null, new.*, null) from %s as new where %s', relation,
                   coalesce(rowrelay.filter_condition(capture), 'true'))
      using capture.id;
  end if;
end
$$;
