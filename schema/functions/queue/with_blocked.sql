-- Purpose:    adds to a list of refused changes those that wait behind them (on_error=block), in any lane
-- Parameters: ids of refused changes; null: all
-- Result:     these ids and those of the waiting changes
create or replace function rowrelay.with_blocked(change_ids bigint[]) returns bigint[]
language sql stable as $$
  select case when change_ids is not null then change_ids || array(
    select b.change_id
      from rowrelay.refusal f
      join rowrelay.refusal b on b.target = f.target and b.capture = any (rowrelay.captures_alike(f.capture))
       and (b.row_hash = f.row_hash or 0 in (b.row_hash, f.row_hash))
     where f.change_id = any (change_ids) and f.state = 'error' and b.state = 'blocked') end
$$;
