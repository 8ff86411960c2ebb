-- Purpose:    finds out which keys of different spelling are one row's, by their types' equality operators
-- Parameters: captures and keys, in pairs
-- Result:     for each key of which another one in the list is a spelling: the one of these that stands for them all
create or replace function rowrelay.one_spelling(captures integer[], keys text[])
returns table (capture integer, key text, row_key text)
language sql stable set search_path = pg_catalog, pg_temp as $$
  with inexact as materialized (
    select array_agg(w.capture) as captures, array_agg(w.key) as keys
      from unnest(captures, keys) as w(capture, key)
      join rowrelay.capture c on c.id = w.capture and not c.key_is_exact and cardinality(c.key_columns) > 0
  ), hashed as materialized (
    select r.* from inexact i cross join lateral rowrelay.row_hashes(i.captures, i.keys) as r where r.hash <> 0
  )
  select h.capture, h.key, min(o.key)
    from hashed h
    join hashed o on o.capture = h.capture and o.hash = h.hash
     and case when o.key = h.key then true else rowrelay.is_same_key(h.capture, h.key, o.key) end
   group by 1, 2
  having count(*) > 1
$$;
