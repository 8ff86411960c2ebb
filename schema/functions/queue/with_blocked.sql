-- Purpose:    adds what waits behind refused changes (on_error=block) to a list of these, in whatever lanes it stands
-- Parameters: ids of refused changes; null: all
-- Result:     the same, and those that wait
create or replace function rowrelay.with_blocked(change_ids bigint[]) returns bigint[]
language sql stable as $$
  select case when change_ids is not null then change_ids || array(
    select b.change_id
      from rowrelay.refusal f
      join rowrelay.refusal b on b.target = f.target and b.capture = any (rowrelay.captures_alike(f.capture))
       and (b.row_hash = f.row_hash or 0 in (b.row_hash, f.row_hash))
     where f.change_id = any (change_ids) and f.state = 'error' and b.state = 'blocked') end
$$;
