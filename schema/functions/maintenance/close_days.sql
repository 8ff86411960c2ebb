-- Purpose:    closes past days of the log, into which nobody can write any more. First rowrelay.partition_day() has to
--             return a later day; then every transaction that was writing at that time has to end. From then on only
--             rowrelay itself changes the day's partition.
-- Result:     how many days were closed
-- Errors:     the transaction is not READ COMMITTED
create or replace function rowrelay.close_days() returns integer
language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  -- A writer learns its day shortly before it takes the lock by which it can be seen.
  settled constant interval := '10 s';
  open_from date;
  present   text[];
  closing   record;
  closed    integer := 0;
begin
  if current_setting('transaction_isolation') <> 'read committed' then
    raise exception 'days of the log can only be closed in a READ COMMITTED transaction'
      using errcode = 'object_not_in_prerequisite_state', detail = 'It has to see what others commit meanwhile.';
  end if;
  -- Changes captured while the clock was ahead must not keep a day for longer than two days from now.
  update rowrelay.day d set ends_at = clock_timestamp() + interval '2 days'
   where d.ends_at > clock_timestamp() + interval '2 days';
  -- After the clock was set back a day may be open again, and will have to wait for other writers once it is past.
  delete from rowrelay.day d using rowrelay.source s where d.closed_at is null and d.day >= s.open_from;
  select s.open_from into open_from from rowrelay.source s where s.open_since < clock_timestamp() - settled;
  if not exists (select from rowrelay.partition_days() p
                  where p.day < open_from
                    and not exists (select from rowrelay.day d where d.day = p.day and d.closed_at is not null)) then
    return 0;
  end if;

  present := rowrelay.writers();
  insert into rowrelay.day as d (day, waits_for)
  select p.day, present from rowrelay.partition_days() p where p.day < open_from
  on conflict (day) do update
    -- A prepared transaction has a new name (-1/...) after a restart, and nobody knows when it began.
    set waits_for = array(select w from unnest(present) as w where w = any (d.waits_for) or w like '-1/%')
    where d.closed_at is null;
  for closing in
    select d.day, p.partition from rowrelay.day d join rowrelay.partition_days() p on p.day = d.day
     where d.closed_at is null and d.waits_for = '{}'
       for update of d
  loop
    execute format('with ids as (select min(c.id) as first_id, max(c.id) as last_id from %s c) '
                   'update rowrelay.day d set closed_at = clock_timestamp(), closed_in = pg_current_snapshot(), '
                   'waits_for = null, first_id = i.first_id, last_id = i.last_id, '
                   'ends_at = greatest((d.day + 2)::timestamp at time zone ''UTC'', '
                   '(select c.captured_at from %s c where c.id = i.last_id)) from ids i where d.day = $1',
                   closing.partition, closing.partition) using closing.day;
    closed := closed + 1;
  end loop;
  return closed;
end
$$;
