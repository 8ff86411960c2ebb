-- Purpose:    seals the next part of closed days, the oldest first, and removes the hashes of dropped days. Running
--             processes call it repeatedly.
-- Parameters: about how many changes to seal; changes per block
-- Result:     number of blocks made; 0: nothing to seal at present, or another session is sealing
create or replace function rowrelay.seal_next(changes integer default 10000, block_size integer default 5000)
  returns integer
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  previous rowrelay.seal;
  next_day date;
  made     integer := 0;
  sealed   integer := 0;
begin
  if not exists (select from rowrelay.source s where s.seals) then
    return 0;
  end if;
  perform from rowrelay.mutex m where m.name = 'seal' for update skip locked;
  if not found then
    return 0;
  end if;
  perform rowrelay.close_days();
  select s.* into previous from rowrelay.seal s where s.day is not null order by s.position desc limit 1;
  while sealed < changes loop
    if not previous.ends_day then
      previous := rowrelay.seal_block(previous.day, previous.block + 1, previous.last_id, block_size);
    else
      -- the next day that exists, if it is closed
      select p.day into next_day
        from rowrelay.partition_days() p left join rowrelay.day d on d.day = p.day
       where p.day > coalesce(previous.day, '-infinity') and d.dropped_at is null
       order by p.day limit 1;
      exit when not exists (select from rowrelay.day d where d.day = next_day and d.closed_at is not null);
      previous := rowrelay.seal_block(next_day, 0, -9223372036854775808, block_size);
    end if;
    made := made + 1;
    sealed := sealed + previous.changes + 1;
  end loop;
  if made = 0 then
    update rowrelay.seal s
       set ids = null, captures = null, hashes = null, secret = null, salts = null
      from rowrelay.day d
     where d.day = s.day and s.ids is not null and d.dropped_at is not null and d.archived_at is null;
  end if;
  return made;
end
$$;
