-- Purpose:    queues changes of the log again for a target that takes changes as such (events, lines, append): after the
--             receiver lost them, or because it came later than they did. They are delivered in their order, before
--             whatever is queued and younger. A target that holds a state has no use for it: what it lacks is brought by
--             rowrelay.requeue() or rowrelay.backfill().
--             One transaction, or a younger change of a key could come before an older one.
-- Parameters: target; since, until: when they were captured; relation: only of this table
-- Result:     how many changes were queued; what is queued already, or was refused and not settled, is left where it is
-- Errors:     no such target; it holds a state; nothing goes there, or not this table
create or replace function rowrelay.replay(target text, since timestamptz, until timestamptz default now(), relation regclass default null)
returns bigint language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  goes_to  rowrelay.target;
  capture  rowrelay.capture;
  change   rowrelay.change;
  hashes   record;
  lane     integer;
  hash     integer;
  first_id bigint;
  queued   bigint := 0;
begin
  if since is null or until is null then
    raise exception 'since when, and until when, are changes to be delivered again?' using errcode = 'null_value_not_allowed';
  end if;
  select t.* into goes_to from rowrelay.target t where t.id = rowrelay.target_id(target);
  if rowrelay.keeps_state(goes_to) then
    raise exception 'target "%" holds the last state, so old changes are of no use there', target
      using errcode = 'invalid_parameter_value',
            hint = format('Bring rows that are missing or different: rowrelay verify %s --repair', target);
  end if;
  if not exists (select from rowrelay.route r join rowrelay.capture c on c.id = r.capture
                  where r.target = goes_to.id and r.until_id is null and c.released_at is null
                    and (replay.relation is null or c.relation = replay.relation)) then
    raise exception '% to target "%"', coalesce(format('table %s does not go', relation), 'no table goes'), target
      using errcode = 'undefined_object', hint = format('Send it there first: rowrelay route %s %s', coalesce(relation::text, 'TABLE'), target);
  end if;

  -- Nobody has a batch in hand, or takes one, while older changes are put before it.
  perform rowrelay.lock_lanes(rowrelay.lanes_of(goes_to.id));

  for capture in
    select c.* from rowrelay.route r join rowrelay.capture c on c.id = r.capture
     where r.target = goes_to.id and r.until_id is null and c.released_at is null
       and (replay.relation is null or c.relation = replay.relation)
  loop
    for change in
      select h.* from rowrelay.change h
       where h.capture = capture.id and h.captured_at >= replay.since and h.captured_at < replay.until and h.op <> 'r'
         and coalesce((h.caveat ->> 'target')::integer, goes_to.id) = goes_to.id
         and not exists (select from rowrelay.refusal f where f.target = goes_to.id and f.change_id = h.id)
         -- it may be queued in another lane than it would be queued in now
         and not exists (select from rowrelay.queue q
                          where q.change_id = h.id
                            and q.lane between rowrelay.lane_number(goes_to.id, -1) and rowrelay.lane_number(goes_to.id, 1023))
    loop
      hash := null;
      if change.op not in ('t', 'b') and change.caveat ->> 'problem' is null then
        select k.* into hashes from rowrelay.key_and_hash(capture, change.old_row, change.new_row) as k;
        -- What leaves a lane, or may do so, is a barrier, as it was when it was captured.
        if not rowrelay.can_change_lane(capture) then
          hash := case when change.op = 'd' then hashes.old_hash else hashes.new_hash end;
        elsif change.op in ('i', 's') or change.op = 'u' and hashes.old_hash = hashes.new_hash then
          hash := hashes.new_hash;
        end if;
      end if;
      lane := rowrelay.lane_number(goes_to.id, coalesce(mod(hash & 2147483647, goes_to.lanes::integer), -1));
      insert into rowrelay.queue (change_id, lane, day, bytes)
      values (change.id, lane, change.day, -- as large as they are when they are read, and not as they are stored
              coalesce(octet_length(change.old_row::text), 0) + coalesce(octet_length(change.new_row::text), 0))
      on conflict do nothing;
      if found then
        queued := queued + 1;
        first_id := least(first_id, change.id);
      end if;
    end loop;
  end loop;
  if queued > 0 then
    perform rowrelay.rewind(goes_to.id, first_id);
  end if;
  return queued;
end
$$;
