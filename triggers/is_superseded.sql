-- Purpose:    whether the row version that a trigger gets no longer exists: another trigger, fired by an earlier row of
--             the same statement, has changed or deleted the row since, and that was captured already. This change is
--             older than what the log has.
-- Parameters: the table with the row; ctid of the version; the row, by which the table is known
--             (rowrelay.same_row_type)
-- Result:     false also when this is unknown, as it is of a row of a foreign table, which is not read
create or replace function rowrelay.is_superseded(relation oid, version tid, given record default null) returns boolean
language plpgsql set search_path = pg_catalog, pg_temp set jit = off as $$
declare
  is_there boolean;
begin
  if not rowrelay.sees_rows(relation)
     or exists (select from pg_foreign_table f where f.ftrelid = is_superseded.relation) then
    return false;
  end if;
  execute format('select exists (select from only %s as t where t.ctid = $1%s)', relation::regclass,
                 case when pg_column_size(given) is not null then ' and ' || rowrelay.same_row_type('t.*', '$2') end)
     into is_there using version, given;
  return not is_there;
exception when others then
  return false;
end
$$;
