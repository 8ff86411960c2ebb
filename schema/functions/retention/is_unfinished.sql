-- Purpose:    whether a transaction with changes captured by a given time made more changes after it
-- Parameters: txid; at
create or replace function rowrelay.is_unfinished(txid xid8, at timestamptz) returns boolean
language plpgsql stable as $$
declare
  last   record;
  answer boolean;
begin
  -- a tick taken by then shows that it had ended
  if (select t.taken_at
        from generate_series(0, (select t.era from rowrelay.tick t order by t.id desc limit 1)) as this(era)
        cross join lateral (
          select t.* from rowrelay.tick t
           where t.era = this.era
             and pg_snapshot_xmax(t.snapshot) > is_unfinished.txid
               and pg_visible_in_snapshot(is_unfinished.txid, t.snapshot)
           order by pg_snapshot_xmax(t.snapshot), t.id limit 1) as t
       order by pg_snapshot_xmax(t.snapshot), t.id limit 1) <= at then
    return false;
  end if;
  -- a transaction's last change has its largest id
  select f.change_id, f.day into last from rowrelay.changes_of_transaction(txid) as f order by f.change_id desc limit 1;
  execute format('select h.captured_at > $1 from rowrelay.readable_change h where h.id = %s and h.day = %L',
                 last.change_id, last.day)
     into answer using at;
  return answer;
end
$$;
