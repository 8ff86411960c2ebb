-- Purpose:    puts steps into the order to run: the last change first, unless a foreign key needs another order
-- Parameters: steps in the order of their changes
-- Result:     the steps that need a statement
create or replace function rowrelay.undo_order(steps rowrelay.undo_step[]) returns rowrelay.undo_step[]
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  -- which steps each one needs done before it; and those that a constraint does, so that they need no statement
  needs    jsonb;
  follows  integer[];
  begun    boolean[] := array_fill(false, array[cardinality(steps)]);
  done     boolean[] := begun;
  waiting  integer[];
  awaited  jsonb;
  top      integer;
  next     integer;
  ordered  rowrelay.undo_step[] := '{}';
begin
  select jsonb_object_agg(e.step, e.needs), array_agg(distinct e.step) filter (where e.follows)
    into needs, follows
    from (select r.step, jsonb_agg(r.needs order by r.needs desc) as needs, bool_or(r.follows) as follows
            from rowrelay.undo_references(steps) r group by r.step) as e;

  for start in reverse cardinality(steps) .. 1 loop
    waiting := array[start];
    while cardinality(waiting) > 0 loop
      top := waiting[cardinality(waiting)];
      begun[top] := true;
      -- steps that need each other: stop at the one that has begun
      awaited := needs -> top::text;
      next := null;
      if awaited is not null and not done[top] then
        select n::integer into next from jsonb_array_elements_text(awaited) as n where not begun[n::integer] limit 1;
      end if;
      if next is not null then
        waiting := waiting || next;
      else
        if not done[top] then
          done[top] := true;
          if top = any (follows) is not true then
            ordered := ordered || steps[top];
          end if;
        end if;
        waiting := waiting[1:cardinality(waiting) - 1];
      end if;
    end loop;
  end loop;
  return ordered;
end
$$;
