-- Purpose:    whether a tick is worthwhile: for a few changes a tick costs more than it saves
-- Parameters: the last tick, null for none; at_once: true makes it due
create or replace function rowrelay.tick_is_due(last rowrelay.tick, at_once boolean) returns boolean
language plpgsql volatile as $$
declare
  fresh constant bigint := rowrelay.last_change_id() - coalesce(last.high, 0);
  age   constant interval := clock_timestamp() - last.taken_at;
begin
  if at_once or fresh >= 5000 then
    return true;
  elsif age between '0' and '10 s' then
    return false;
  end if;
  -- or a transaction that was open at the last tick has ended
  return fresh >= 500
      or fresh > 0 and (age is null or age not between '0' and '1 min')
      or exists (select from unnest(last.writers) as w where pg_visible_in_snapshot(w, pg_current_snapshot()));
end
$$;
