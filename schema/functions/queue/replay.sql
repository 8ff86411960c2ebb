-- Purpose:    queues changes of the log again for a target that receives every change (events, lines, append): after
--             the receiver lost them, or because it was added later. They are delivered in their order, before newer
--             queued changes. For a target that keeps the last state of rows use rowrelay.requeue() or
--             rowrelay.backfill(). All in one transaction, or a newer change of a key could precede an older one.
--             Receipts say who replayed them.
-- Parameters: target; since, until: when they were captured; relation: only of this table
-- Result:     number of queued changes; those that are queued already, or refused and not settled, stay where they are
-- Errors:     no such target; it keeps the last state; no table, or not this one, is routed there
create or replace function rowrelay.replay(target text, since timestamptz, until timestamptz default now(),
                                           relation regclass default null)
returns bigint language plpgsql security definer set search_path = pg_catalog, pg_temp
set enable_nestloop = off set jit = off as $$ -- statistics of the queue may be those of an empty one
declare
  goes_to  rowrelay.target;
  former   record;
  capture  rowrelay.capture;
  first_id bigint;
  queued   bigint := 0;
  oldest   bigint; -- of one capture
  moved    bigint;
begin
  if since is null or until is null then
    raise exception 'since and until must not be null' using errcode = 'null_value_not_allowed';
  end if;
  perform rowrelay.lock_configuration();
  -- Not locked: a batch in flight may have to update it before it releases a lane that we wait for.
  select t.* into goes_to from rowrelay.target t where t.name = replay.target and t.dropped_at is null;
  if goes_to.id is null then
    perform rowrelay.target_id(target);
  end if;
  if rowrelay.keeps_state(goes_to) then
    raise exception 'target "%" keeps the last state of rows, so old changes cannot be replayed there', target
      using errcode = 'invalid_parameter_value',
            hint = 'To repair missing or different rows: '
                     || case when goes_to.url ~ '^postgres' then rowrelay.verify_commands(relation, true, target)
                             else rowrelay.command('rowrelay backfill %s --to %s', 'select rowrelay.backfill(%L, %L);',
                                                   coalesce(relation::text, 'TABLE'), target) end;
  end if;
  if not exists (select from rowrelay.route r join rowrelay.capture c on c.id = r.capture
                  where r.target = goes_to.id and r.until_id is null and c.released_at is null
                    and (replay.relation is null or c.relation = replay.relation)) then
    raise exception '% to target "%"',
      coalesce(format('table %s is not routed', relation), 'no table is routed'), target
      using errcode = 'undefined_object',
        hint = 'Route it first: '
                 || rowrelay.command('rowrelay route %s %s', 'select rowrelay.route(%L, %L);',
                                     coalesce(relation::text, 'TABLE'), target);
  end if;

  -- No batch may be in flight or claimed while older changes are queued ahead of it.
  perform rowrelay.lock_lanes(rowrelay.lanes_of(goes_to.id));

  for former in
    -- also what was routed there before: tables that were released, captured again, dropped or made anew
    select c as capture, coalesce(r.until_id, 9223372036854775807) as until_id
      from rowrelay.route r join rowrelay.capture c on c.id = r.capture
     where r.target = goes_to.id
       and (replay.relation is null or c.relation = replay.relation
            or r.place = (select p.place from rowrelay.route p join rowrelay.capture n on n.id = p.capture
                           where p.target = goes_to.id and p.until_id is null and n.released_at is null
                             and n.relation = replay.relation))
  loop
    capture := former.capture;
    -- One statement for all of its changes: others that change captures or targets wait meanwhile.
    execute format(
      'with image as ('
        'select h.id, h.day, h.op, h.old_row, h.new_row, '
               -- They choose no lane: a barrier, or what could not be captured.
               'h.op in (''t'', ''b'') or h.caveat ->> ''problem'' is not null as is_barrier '
          'from rowrelay.change h '
         'where h.capture = $1 and h.captured_at >= $2 and h.captured_at < $3 and h.op <> ''r'' and h.id <= $7 '
           'and coalesce((h.caveat ->> ''target'')::integer, $4) = $4 '
           'and not exists (select from rowrelay.refusal f where f.target = $4 and f.change_id = h.id) '
           -- it may still be queued, in another lane than the one computed now
           'and not exists (select from rowrelay.queue q where q.change_id = h.id '
                            'and q.lane between rowrelay.lane_number($4, -1) and rowrelay.lane_number($4, 1023))), '
      'queued as ('
        'insert into rowrelay.queue (change_id, lane, day, bytes) '
        'select i.id, rowrelay.lane_number($4, coalesce(mod(l.hash & 2147483647, $5), -1)), i.day, '
               -- their size uncompressed
               'coalesce(octet_length(i.old_row::text), 0) + coalesce(octet_length(i.new_row::text), 0) '
          'from image i '
         'cross join lateral (%s) as k '
         'cross join lateral (select case '
           'when i.is_barrier then null '
           -- A change that takes a row out of its lane, or may do so, is a barrier, as when it was captured.
           'when not $6 then case i.op when ''d'' then k.old_hash else k.new_hash end '
           'when i.op in (''i'', ''s'') or i.op = ''u'' and k.old_hash = k.new_hash then k.new_hash end) as l(hash) '
        'on conflict do nothing returning change_id), '
      'noted as ('
        'insert into rowrelay.receipt (token, part, target, outcome, attempts, actor, settled_at, change_ids, '
                                      'first_id, last_id) '
        'select nextval(''rowrelay.claim_token''), 0, $4, ''replayed'', 0, rowrelay.actor(), clock_timestamp(), '
               'array_agg(q.change_id order by q.change_id), min(q.change_id), max(q.change_id) '
          -- so that no receipt is large, nor says of many that they may be in it
          'from queued q group by q.change_id / 65536) '
      'select count(*), min(change_id) from queued',
      rowrelay.key_and_hash_query(capture, 'case when not i.is_barrier then i.old_row end',
                                  'case when not i.is_barrier then i.new_row end'))
       into moved, oldest
      using capture.id, since, until, goes_to.id, goes_to.lanes::integer, rowrelay.can_change_lane(capture),
            former.until_id;
    queued := queued + moved;
    first_id := least(first_id, oldest);
  end loop;
  if queued > 0 then
    perform rowrelay.rewind(goes_to.id, first_id);
  end if;
  update rowrelay.target t set may_differ = null
   where t.id = goes_to.id and t.may_differ like '%the server has lost what it had%';
  return queued;
end
$$;
