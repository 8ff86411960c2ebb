-- Purpose:    returns SQL for reading row images of a captured table, whatever its columns were called then
-- Parameters: past
-- Result:     statement: for a WITH clause, as shape (n, until_id, altered_by, numbers, names, sorted, hidden,
--             becomes): position; last change id that may have this shape; columns of rowrelay.shape; names sorted;
--             present names, null: the column is not shown or no longer exists. last_from: changes with larger ids have
--             the last shape, last_n; is_plain: there is only one shape, and all of its columns still have their names
create or replace function rowrelay.past_shapes(past rowrelay.past, out statement text, out last_from bigint,
                                                out last_n integer, out is_plain boolean)
language plpgsql stable as $$
declare
  now_shape  rowrelay.shape := past.shape;
  last_shape rowrelay.shape;
begin
  select s.* into last_shape from rowrelay.shape s where s.capture = (past.capture).id order by s.id desc limit 1;
  with noted as (
    select s.* from rowrelay.shape s where s.capture = (past.capture).id and s.id >= (past.begun).id
    union all
    -- an alteration that maintenance has not noticed yet
    select now_shape.*
     where (now_shape.numbers, now_shape.names, now_shape.masks::text)
           is distinct from (last_shape.numbers, last_shape.names, last_shape.masks::text)
  ), own as materialized (
    select t.* from rowrelay.past_types(past) as t
  ), numbered as (
    select s.*, row_number() over w as n, coalesce(lead(s.from_id) over w, 9223372036854775807) as until_id,
           array(select a.name::text
                   from unnest(s.numbers, s.names) with ordinality as u(number, name, position)
                   left join own a
                          on a.number = u.number
                         and a.number <> all (now_shape.hidden)
                         and now_shape.masks -> a.name is null
                         and (s.masks -> u.name is null
                              or rowrelay.mask_value(s.masks -> u.name, a.type, a.modifier) is not null)
                  order by u.position) as becomes
      from noted s
    window w as (order by s.id)
  )
  select 'values ' || string_agg(
           format('(%s, %s::pg_catalog.int8, %L::pg_catalog.xid8, %L::pg_catalog.int2[], %L::pg_catalog.text[], '
                  '%L::pg_catalog.text[], '
                  '%L::pg_catalog.int2[], %L::pg_catalog.text[])', s.n, s.until_id, s.altered_by, s.numbers, s.names,
                  array(select u.name from unnest(s.names) as u(name) order by u.name collate "C"), s.hidden,
                    s.becomes),
           ', ' order by s.n),
         (array_agg(s.from_id order by s.n desc))[1], max(s.n), count(*) = 1 and bool_and(s.names = s.becomes)
    into statement, last_from, last_n, is_plain
    from numbered s;
  last_from := coalesce(last_from, 9223372036854775807);
end
$$;
