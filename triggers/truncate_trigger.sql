-- Purpose:    trigger function for TRUNCATE, the same for all tables. A truncate has no key, so it is queued as a
--             barrier: pushed alone, after all before it and before all after it.
--             When a partition is truncated, the change says which rows that were; when it cannot be said in a way that
--             another database understands (an inheritance child, a hash partition), each row is captured as deleted.
-- Parameters: TG_ARGV[0]: capture id
create or replace function rowrelay.capture_truncate() returns trigger
language plpgsql security definer set search_path = pg_catalog, pg_temp
set datestyle = 'ISO, MDY' set timezone = 'UTC' set intervalstyle = 'postgres' set bytea_output = 'hex'
set extra_float_digits = 1 set lc_monetary = 'C' set quote_all_identifiers = off as $$
declare
  capture   rowrelay.capture;
  condition text;
  image     json;
begin
  if current_setting('rowrelay.skip', true) = 'on' then
    return null;
  end if;
  select c.* into strict capture from rowrelay.capture c where c.id = tg_argv[0]::integer;
  if not capture.capture_origin and current_setting('rowrelay.origin', true) <> '' then
    return null;
  end if;
  if tg_relid = capture.relation and capture.row_filter is null then
    perform rowrelay.add_change(capture.id, 't', null, null, null, null);
    return null;
  end if;
  condition := pg_get_partition_constraintdef(tg_relid);
  if condition is not null and position('satisfies_hash_partition' in condition) = 0 and capture.row_filter is null then
    -- With its partitions' parent truncated the parent's own trigger has told it all.
    perform rowrelay.add_change(capture.id, 't', null, null, null, json_build_object('where', condition));
    return null;
  end if;
  for image in execute format('select row_to_json(t) from only %s as t', tg_relid::regclass) loop
    perform rowrelay.record_change(capture.id, 'DELETE', image, null);
  end loop;
  return null;
end
$$;
