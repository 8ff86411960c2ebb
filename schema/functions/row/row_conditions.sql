-- Purpose:    returns SQL that finds each of many rows, which are called t
-- Parameters: captures; values of a row of each, see rowrelay.row_texts()
-- Result:     position; by_key: "this row exists", empty for a table without a key; exactly: "this row exists with
--             exactly these values": the key, and all values that the log has, compared byte by byte (*=), because =
--             takes 1.0 for 1.00 and some types have no =
create or replace function rowrelay.row_conditions(captures integer[], texts jsonb[])
returns table (place bigint, by_key text, exactly text)
language sql stable set search_path = pg_catalog, pg_temp as $$
  with known as materialized (
    select k.*, k.key_place is null or not c.key_is_exact as is_compared
      from rowrelay.undo_columns(captures) as k join rowrelay.capture c on c.id = k.capture
     where k.key_place is not null or not k.is_masked -- a mask is not the row's value
  ), row_values as (
    select g.place,
           coalesce(string_agg(format('t.%s %s %s', k.identifier, k.equality, v.literal), ' and ' order by k.key_place)
                      filter (where k.key_place is not null), '') as by_key,
           string_agg('t.' || k.identifier, ', ' order by k.number) filter (where k.is_compared) as names,
           string_agg(v.literal, ', ' order by k.number) filter (where k.is_compared) as literals
      from unnest(captures, texts) with ordinality as g(capture, texts, place)
      left join known k on k.capture = g.capture and g.texts ? k.name
     cross join lateral (select quote_nullable(g.texts ->> k.name) || k.type_cast) as v(literal)
     group by g.place
  )
  select r.place, r.by_key,
         concat_ws(' and ', nullif(r.by_key, ''),
                   'row(' || r.names || ')::record *= row(' || r.literals || ')::record')
    from row_values r
$$;
