-- Purpose:    puts a piece of the older log, from the end, into rowrelay.change_key under the hashes of the rows: what
--             was indexed before these were computed as they are now (rowrelay.row_hashing)
-- Parameters: max_rows: changes to read at most
-- Result:     number of changes read; fewer than max_rows: nothing is left to do
create or replace function rowrelay.index_older_rows(max_rows bigint) returns bigint
language plpgsql set plan_cache_mode = force_custom_plan set enable_seqscan = off set jit = off as $$
declare
  last  constant bigint := (select max(r.above_id) from rowrelay.row_hashing r where r.above_id > 0);
  piece record;
begin
  if last is null or max_rows <= 0 then
    return 0;
  end if;
  select count(*) as looked_at, min(o.id) as first_id, array_agg(o.id) filter (where o.is_wanted) as ids,
         array_agg(o.day) filter (where o.is_wanted) as days,
         array_agg(o.capture) filter (where o.is_wanted) as captures,
         array_agg(o.key) filter (where o.is_wanted) as keys
    into piece
    from (select c.id, c.day, c.capture, c.key,
                 c.id <= r.above_id and c.key is not null and c.op not in ('b', 'r') as is_wanted
            from (select h.id, h.day, h.capture, h.op, h.key from rowrelay.change h
                   where h.id <= last order by h.id desc limit max_rows) as c
            left join rowrelay.row_hashing r on r.capture = c.capture) as o;
  if piece.ids is not null then
    perform rowrelay.key_partitions();
    perform rowrelay.index_rows(piece.ids, piece.days, piece.captures, piece.keys);
  end if;
  update rowrelay.row_hashing r
     set above_id = case when piece.looked_at < max_rows then 0 else piece.first_id - 1 end
   where r.above_id >= case when piece.looked_at < max_rows then 1 else piece.first_id end;
  return piece.looked_at;
end
$$;
