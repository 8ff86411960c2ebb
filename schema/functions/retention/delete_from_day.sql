-- Purpose:    deletes the changes of some tables from a closed day, one piece at a time, while other tables are kept
--             longer
-- Parameters: the day; tables (captures) whose changes may go; a day that is being deleted from keeps its earlier list
-- Result:     'deleting': call it again; 'deleted'; 'kept': something is not delivered; note: why, or how many changes
create or replace function rowrelay.delete_from_day(day rowrelay.day, captures integer[], out outcome text,
                                                    out note text)
language plpgsql as $$
declare
  piece constant integer := 20000; -- changes to read
  up_to   bigint;
  deleted bigint;
begin
  note := (select string_agg(u, '; ') from rowrelay.undelivered(day.day, day.first_id, day.last_id) as u);
  if note is not null then
    outcome := 'kept';
    return;
  end if;
  if day.deleting is null then
    day.deleting := captures;
    day.deleted_to := 0;
    perform rowrelay.raise_log_since(day, captures);
  end if;
  execute format('select max(p.id) from (select c.id from %1$s c where c.id > $1 order by c.id limit $2) as p',
                 'rowrelay.change_' || to_char(day.day, 'YYYYMMDD')) using day.deleted_to, piece into up_to;
  if up_to is not null then
    execute format('delete from %1$s c where c.id > $1 and c.id <= $2 and c.capture = any ($3)',
                   'rowrelay.change_' || to_char(day.day, 'YYYYMMDD')) using day.deleted_to, up_to, day.deleting;
    get diagnostics deleted = row_count;
    outcome := 'deleting';
    note := format('%s changes', deleted);
    update rowrelay.day d set deleting = delete_from_day.day.deleting, deleted_to = up_to,
                              dropped_in = pg_current_xact_id()
     where d.day = delete_from_day.day.day;
  else
    outcome := 'deleted';
    note := (select string_agg(c.relation_name, ', ' order by c.id) from rowrelay.capture c
             where c.id = any (day.deleting));
    update rowrelay.day d set deleting = null, deleted_to = null, gone = d.gone || d.deleting, note = null
     where d.day = delete_from_day.day.day;
  end if;
end
$$;
