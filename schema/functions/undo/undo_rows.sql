-- Purpose:    returns what each change left of its row, and what the row was before: the image kept with the change,
--             else that of the row's previous change
-- Parameters: changes of one transaction that passed rowrelay.check_undoable()
-- Result:     a step for each change of a row
-- Errors:     the log lacks the row before an update or delete; see rowrelay.row_texts()
create or replace function rowrelay.undo_rows(changes rowrelay.change[]) returns setof rowrelay.undo_step
language plpgsql stable set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_custom_plan as $$ -- plans for as many rows as there are
declare
  given    rowrelay.change[];
  keys     text[];
  previous rowrelay.change[]; -- of the same row
  kept     jsonb[];           -- images before the changes
  is_kept  boolean[];         -- they are whole rows, or all that is needed
  lacking  rowrelay.change;
  capture  rowrelay.capture;
begin
  -- the previous change of each row: of this transaction, else the last one before it
  with spelled as materialized (
    select s.* from rowrelay.one_spelling(array(select c.capture from unnest(changes) as c),
                                          array(select c.key from unnest(changes) as c)) as s
  ), change as materialized (
    select c as change, coalesce(s.row_key, c.key) as row_key,
           lag(c) over (partition by c.capture, coalesce(s.row_key, c.key) order by c.id) as previous
      from unnest(changes) as c left join spelled s on s.capture = c.capture and s.key = c.key
     where c.op in ('i', 'u', 'd', 't')
  ), wanted as materialized (
    select array_agg((g.change).id order by (g.change).id) as ids,
           array_agg(k.relation order by (g.change).id) as relations,
           array_agg((g.change).key order by (g.change).id) as keys
      from change g join rowrelay.capture k on k.id = (g.change).capture
     where (g.previous).id is null and (g.change).key is not null
       and ((g.change).op = 'u' and (g.change).old_row is null or (g.change).op = 'd')
  ), former as materialized (
    select w.ids[l.position] as id, l.change_id, l.day
      from wanted w
     cross join lateral rowrelay.latest_changes(w.relations, w.keys, null, w.ids, '{i,u,d,s}') as l
  )
  select array_agg(g.change order by (g.change).id), array_agg(g.row_key order by (g.change).id),
         array_agg(case when (g.change).key is null then null when (g.previous).id is not null then g.previous
                   else h.former end order by (g.change).id)
    into given, keys, previous
    from change g
    left join former f on f.id = (g.change).id
    left join lateral (select row(c.*)::rowrelay.change as former from rowrelay.readable_change c
                       where c.id = f.change_id and c.day = f.day offset 0) as h on true;

  kept := array(select t.texts from rowrelay.row_texts(given, array(select c.old_row from unnest(given) as c)) as t
                 order by t.place);
  with image as materialized (
    select c.n, c.op, c.capture, k.texts,
           case when c.op = 'd' then array(select jsonb_object_keys(k.texts)) end as names
      from (select g.op, g.capture, row_number() over () as n from unnest(given) as g) as c
      join unnest(kept) with ordinality as k(texts, n) using (n)
  ), whole as materialized ( -- asked once for all images with the same columns
    select i.capture, i.names, rowrelay.is_whole_row(c, i.texts) as is_whole
      from (select distinct on (e.capture, e.names) e.* from image e where e.op = 'd' and e.texts is not null) as i
      join rowrelay.capture c on c.id = i.capture
  )
  select array_agg(i.op = 'i' or i.texts is not null and (i.op = 'u' or w.is_whole) order by i.n) into is_kept
    from image i left join whole w on w.capture = i.capture and w.names = i.names;

  select (g.change).* into lacking
    from (select c as change, c.capture, row_number() over () as n from unnest(given) as c) as g
    join (select p.capture, p.new_row, row_number() over () as n from unnest(previous) as p) as p using (n)
   where not is_kept[n] and (p.new_row is null or p.capture <> g.capture)
   order by n limit 1;
  if lacking.id is not null then
    select c.* into strict capture from rowrelay.capture c where c.id = lacking.capture;
    raise exception 'the log does not have row % of table % as it was before change %', lacking.key,
      capture.relation, lacking.id
      using errcode = 'object_not_in_prerequisite_state',
            detail = 'No image before the change was kept, and the row''s previous change is not in the log.',
            hint = 'To keep such images from now on: '
                     || rowrelay.command('rowrelay capture %s --before',
                                         'select rowrelay.capture_table(%L, before => ''full'');',
                                         rowrelay.full_name(capture.relation));
  end if;
  perform rowrelay.check_not_redacted(p.previous, c)
     from (select u as previous, u.capture, row_number() over () as n from unnest(previous) as u) as p
     join rowrelay.capture c on c.id = p.capture
    where not is_kept[p.n];

  return query
    select c.id, c.id, c.capture, k.relation, case when c.op <> 'd' then c.key end,
           case when c.op <> 'i' then c.key end, w.texts,
           case when c.op = 'i' then null when is_kept[c.n] then o.texts
                else p.texts || coalesce(o.texts, '{}') end
      from (select g.id, g.capture, g.op, keys[row_number() over ()] as key, row_number() over () as n
              from unnest(given) as g) as c
      join rowrelay.capture k on k.id = c.capture
      join unnest(kept) with ordinality as o(texts, n) on o.n = c.n
      join rowrelay.row_texts(given, array(select case when g.op <> 'd' then g.new_row end from unnest(given) as g))
             as w on w.place = c.n
      join rowrelay.row_texts(previous, array(select case when not is_kept[u.n] then u.new_row end
                                                from (select p.new_row, row_number() over () as n
                                                        from unnest(previous) as p) as u)) as p on p.place = c.n;
end
$$;
