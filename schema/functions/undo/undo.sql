-- Purpose:    undoes the last change of a row: returns the statement that restores the row, for a person to read and
--             run, or runs it. An update of a key, or one that moved a row to another partition, is captured as two
--             changes: either of them stands for both.
-- Parameters: relation; key in any spelling (null or empty: the table has none); change id; apply: run the
--             statement. It runs with the caller's rights and is captured like any other change.
-- Result:     the statement; no row when the change changed nothing that the log knows of. The statement changes
--             nothing when the row is not as the log left it.
-- Errors:     no such change; the row was changed again later; the log lacks what it takes (images, columns that are
--             left out or masked); with apply: the row is not as the log left it
create or replace function rowrelay.undo(relation regclass, key text, change_id bigint, apply boolean default false)
returns setof text
language plpgsql as $$
declare
  change    rowrelay.change;
  neighbour rowrelay.change;
  changes   rowrelay.change[];
  marks     rowrelay.change[];
  hidden    record;
begin
  select h.* into change
    from rowrelay.readable_change h join rowrelay.capture c on c.id = h.capture
   where h.id = change_id and c.relation = undo.relation
     and (coalesce(h.key, '') = coalesce(undo.key, '') or h.key = rowrelay.key_as_logged(undo.relation, undo.key)
          or rowrelay.is_key_of_row(h.capture, h.key, undo.key));
  if not found then
    select h.* into hidden from rowrelay.hidden_tables(array[relation]) as h;
    if hidden.message is not null then
      raise exception '%', hidden.message using errcode = 'insufficient_privilege', hint = hidden.hint;
    end if;
    raise exception 'row % of table % has no change %', coalesce(key, 'without a key'), relation, change_id
      using errcode = 'no_data_found',
            hint = case when exists (select from rowrelay.capture c where c.relation = undo.relation)
                        then 'To list its changes: '
                               || rowrelay.command('rowrelay log %s',
                                                   'select * from rowrelay.history where relation = %L::regclass;',
                                                   relation::text)
                        else 'Capture it first: '
                               || rowrelay.command('rowrelay capture %s', 'select rowrelay.capture_table(%L);',
                                                   relation::text) end;
  elsif change.op not in ('i', 'u', 'd', 't') then
    raise exception 'change % did not change row % of table %', change_id, key, relation
      using errcode = 'object_not_in_prerequisite_state', hint = 'Only inserts, updates and deletes can be undone.';
  end if;

  if change.op in ('i', 'd') and change.key is not null then
    select h.* into neighbour
      from rowrelay.readable_change h
     where case change.op when 'i' then h.id between change.id - 1000 and change.id - 1
                          else h.id between change.id + 1 and change.id + 1000 end
       and h.day between change.day - 1 and change.day + 1 and h.txid = change.txid and h.op in ('i', 'u', 'd', 't')
     order by abs(h.id - change.id) limit 1;
    changes := case change.op when 'i' then array[neighbour, change] else array[change, neighbour] end;
    if neighbour.capture = change.capture and (change.op, neighbour.op) in (('i', 'd'), ('d', 'i')) then
      begin
        if cardinality(rowrelay.undo_steps(changes)) > 1 then
          changes := null; -- two rows
        end if;
      exception when others then
        changes := null; -- the log lacks what it takes to undo the other, which nobody named
      end;
    else
      changes := null;
    end if;
  end if;
  -- changes that were left out of the log, see rowrelay.nesting_statements()
  select array_agg(h) into marks
    from rowrelay.changes_of_transaction(change.txid) as f
    join rowrelay.source s on (f.change_id <= s.restored_id) = (change.id <= s.restored_id)
    cross join lateral (select c.* from rowrelay.readable_change c where c.id = f.change_id
                        and c.day = f.day offset 0) as h
   where h.op = 'r' and h.capture = change.capture
     and exists (select from unnest(array[change.key, neighbour.key]) as k
                  where rowrelay.is_key_of_row(h.capture, h.key, k));
  return query select rowrelay.undo_changes(coalesce(changes, array[change]) || marks, apply);
end
$$;
