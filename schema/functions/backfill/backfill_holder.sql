-- Purpose:    says which transaction has locked the row that a backfill has to read next, or its whole table. The
--             parameter is a number rather than a row, because a caller could make up a row, which would be used with
--             the rights of the schema's owner.
-- Parameters: number of a backfill
-- Result:     for people: what is locked, and by which process; null: unknown
create or replace function rowrelay.backfill_holder(backfill_id integer) returns text
language plpgsql security definer set search_path = pg_catalog, pg_temp
set datestyle = 'ISO, MDY' set timezone = 'UTC' set intervalstyle = 'postgres'
set array_nulls = on set bytea_output = 'hex'
set extra_float_digits = 1 set lc_monetary = 'C' set quote_all_identifiers = off
-- a policy of the table would run with the owner's rights; now it is an error instead
set row_security = off
set enable_seqscan = off set enable_bitmapscan = off set jit = off as $$
declare
  backfill rowrelay.backfill;
  capture  rowrelay.capture;
  names    text[];
  columns  text;
  key      text;
  locker   xid;
  lockers  xid[];
  holders  text;
begin
  select b.* into backfill from rowrelay.backfill b where b.id = backfill_id;
  select string_agg(case when l.pid is null then 'a prepared transaction'
                         else format('process %s (%s, %s)', l.pid, a.usename, left(a.query, 60)) end, ', '
                           order by l.pid)
    into holders
    from pg_locks l left join pg_stat_activity a on a.pid = l.pid
   where l.locktype = 'relation' and l.relation = backfill.part and l.granted
     and l.database = (select d.oid from pg_database d where d.datname = current_database())
     and l.mode in ('ShareLock', 'ShareRowExclusiveLock', 'ExclusiveLock', 'AccessExclusiveLock');
  if holders is not null then
    return format('waits for table %s, locked by %s', backfill.part, holders);
  end if;
  select c.* into strict capture from rowrelay.capture c where c.id = backfill.capture;
  names := rowrelay.backfill_order(backfill.part, rowrelay.attribute_names(capture.relation, capture.key_columns));
  select string_agg(format('new.%I', name), ', ') into columns from unnest(names) as name;
  execute format('select %s, xmax from only %s as new where %s order by %s limit 1',
                 rowrelay.key_expression(capture.relation, capture.key_columns, 'new'), backfill.part,
                 case when backfill.position is null then 'true'
                      else rowrelay.backfill_bound(backfill.part, names, backfill.position, true) end,
                 columns)
     into key, locker;
  lockers := array[locker];
  if not exists (select from pg_locks l where l.transactionid = locker) then
    begin -- several transactions may have locked it: then xmax is the number of their list
      lockers := array(select m.xid from pg_get_multixact_members(locker) as m);
    exception when others then
      return null;
    end;
  end if;
  select string_agg(case when l.pid is null then 'a prepared transaction'
                         else format('process %s (%s, %s, since %s)', l.pid, a.usename, a.state,
                                     to_char(a.xact_start, 'HH24:MI:SS')) end, ', ' order by l.pid)
    into holders
    from pg_locks l left join pg_stat_activity a on a.pid = l.pid
   where l.locktype = 'transactionid' and l.granted and l.transactionid = any (lockers);
  return 'waits for row ' || key || ', locked by ' || holders;
exception when others then
  return null; -- it is only for information
end
$$;
