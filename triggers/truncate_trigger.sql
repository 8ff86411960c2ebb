-- Purpose:    trigger function for TRUNCATE, the same for all tables. A truncate has no key, so it is queued as a
--             barrier: delivered alone, after all earlier changes and before all later ones. For a truncated partition,
--             the change has the condition of its rows; if there is none that means the same at the target (an
--             inheritance child, columns that are not captured, and see rowrelay.partition_condition()), each row is
--             captured as deleted. Rows that the transaction does not see cannot be; that they may have been there is
--             listed as a problem. It runs twice:
--             before, while the rows can still be captured as deleted; and after, when rows that other triggers wrote
--             meanwhile are gone too, and those that others have inserted after it are captured once more. PostgreSQL
--             fires it for a table and then for each of its partitions, first all before and then all after. A truncate
--             of the whole table is captured once. What is left to be done after is noted in rowrelay.follower, not in
--             a setting: processes that apply logical replication undo settings when a trigger has ended.
-- Parameters: TG_ARGV[0]: capture id
create or replace function rowrelay.capture_truncate() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp
set datestyle = 'ISO, MDY' set timezone = 'UTC' set intervalstyle = 'postgres'
set array_nulls = on set bytea_output = 'hex'
set extra_float_digits = 1 set lc_monetary = 'C' set quote_all_identifiers = off
set row_security = off set standard_conforming_strings = on set jit = off as $$
declare
  is_before  constant boolean := tg_when = 'BEFORE';
  -- a trigger of an older version runs only before
  is_alone   constant boolean := not exists (select from pg_trigger t
                                              where t.tgrelid = tg_relid and t.tgname = '!rowrelay_truncated'
                                                and t.tgenabled = 'A');
  noted      rowrelay.follower;
  left_over  text[] := '{}';
  capture    rowrelay.capture;
  is_whole   boolean;
  condition  text;
begin
  -- PostgreSQL counts anew from here on: see rowrelay.statement_body()
  perform set_config('rowrelay.told_' || tg_argv[0], '', true);
  if not is_before then
    delete from rowrelay.follower f
     where f.txid = pg_current_xact_id() and f.relation = tg_relid and f.version = '(0,0)'
    returning f.* into noted;
    if not found then
      return null;
    elsif noted.keys is not null then
      perform rowrelay.record_left(tg_argv[0]::integer, noted.keys);
      perform rowrelay.record_written(tg_argv[0]::integer, tg_relid, noted.change_id);
      return null;
    end if;
  end if;
  if lower(current_setting('rowrelay.skip', true)) = any ('{1,on,t,tr,tru,true,y,ye,yes}')
     or exists (select from pg_partition_ancestors(tg_relid) as a(relid)
                  join rowrelay.follower f on f.txid = pg_current_xact_id() and f.relation = a.relid
                                          and f.version = '(0,0)' and f.keys is null
                 where a.relid <> tg_relid) then
    return null;
  end if;
  if is_before and not is_alone then
    insert into rowrelay.follower (txid, relation, version, change_id, day)
    values (pg_current_xact_id(), tg_relid, '(0,0)', rowrelay.last_change_id(), rowrelay.partition_day())
    on conflict on constraint follower_pkey do update set keys = null;
  end if;
  select c.* into capture from rowrelay.capture c where c.id = tg_argv[0]::integer;
  if not found then
    if not is_before or is_alone then
      perform rowrelay.add_change(tg_argv[0]::integer, 't', null, null, null, null,
                                  'the table was captured by a transaction that this one cannot see yet');
    end if;
    return null;
  end if;
  capture := rowrelay.renumbered(capture);
  if rowrelay.is_left_out(capture.capture_origin)
     -- a detached partition keeps this trigger, but its rows no longer belong to the table
     or tg_relid <> all (rowrelay.captured_tables(capture)) and rowrelay.sees_trigger(tg_relid)
        -- which is up to date in any transaction
        and not exists (select from pg_partition_ancestors(tg_relid) as a(relid) where a.relid = capture.relation) then
    return null;
  end if;
  -- Inheritance children keep their rows under TRUNCATE ONLY; else their own triggers fire.
  is_whole := tg_relid = capture.relation
              and not exists (select from pg_inherits i join pg_class c on c.oid = i.inhparent
                               where i.inhparent = tg_relid and c.relkind = 'r');
  if not is_whole and capture.only_columns is null and capture.exclude_columns = '{}' and capture.mask = '{}' then
    condition := rowrelay.partition_condition(tg_relid);
  end if;
  if is_whole or condition is not null then
    if not is_before or is_alone then
      perform rowrelay.add_change(capture.id, 't', null, null, null,
                                  case when not is_whole then json_build_object('where', condition) end);
      if not is_before then
        begin
          perform rowrelay.add_present(capture, tg_relid);
        exception when others then
          perform rowrelay.add_change(capture.id, 't', null, null, null, null, sqlerrm);
        end;
      end if;
    end if;
    return null;
  end if;
  if not is_before then
    return null;
  end if;
  begin
    perform rowrelay.add_deletes(capture, tg_relid);
    if pg_relation_size(tg_relid) > 0 and rowrelay.may_miss_changes() then
      perform rowrelay.add_change(capture.id, 't', null, null, null, null, format(
                'rows of table %s that others have written since this %s transaction began may be gone, too: skip this '
                'change, and compare the target with the table (rowrelay verify)', tg_relid::regclass,
                upper(current_setting('transaction_isolation'))));
    end if;
    left_over := rowrelay.keys_left(capture, tg_relid);
  exception when others then -- such as columns that this transaction cannot see yet
    perform rowrelay.add_change(capture.id, 't', null, null, null, null, sqlerrm);
  end;
  update rowrelay.follower f set keys = left_over, change_id = rowrelay.last_change_id()
   where f.txid = pg_current_xact_id() and f.relation = tg_relid and f.version = '(0,0)';
  return null;
end
$$;
