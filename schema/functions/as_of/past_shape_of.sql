-- Purpose:    SQL for the shape that an image in the log has. The columns' names in it tell, and mostly their order does:
--             it is that of their numbers. Only where a column was dropped and one of its name made anew at the end, both
--             between two looks at the table, is it guessed by the age of the transaction that wrote.
-- Parameters: expressions for image, change id and transaction
-- Result:     an expression: n of shape; null when the image has not all columns (of a deleted row only the key is kept,
--             if nothing else was asked for)
create or replace function rowrelay.past_shape_of(image text, change_id text, txid text) returns text
language sql immutable as $$
  select format($sql$(
      select s.n from shape s, (select array(select pg_catalog.json_object_keys(%1$s)) as names offset 0) as k
       where %2$s <= s.until_id
         and (s.names = k.names or s.sorted = array(select u.name from unnest(k.names) as u(name) order by u.name collate "C"))
       order by s.names = k.names desc, s.altered_by <= %3$s desc, case when s.altered_by <= %3$s then -s.n else s.n end
       limit 1)$sql$, image, change_id, txid)
$$;
