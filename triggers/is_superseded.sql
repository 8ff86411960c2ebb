-- Purpose:    whether the row version that a trigger is told of is no more: another trigger, fired by an earlier row of the
--             same statement, has changed or deleted the row since, and that was captured already. What we are told now
--             is older than what is in the log.
-- Parameters: the table that holds the row; where the version stands
-- Result:     false also when it cannot be seen
create or replace function rowrelay.is_superseded(relation oid, version tid) returns boolean
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  is_there boolean;
begin
  if row_security_active(relation) then
    return false;
  end if;
  execute format('select exists (select from only %s where ctid = $1)', relation::regclass) into is_there using version;
  return not is_there;
exception when others then
  return false;
end
$$;
