-- Purpose:    returns SQL that finds the shape of an image in the log by the names of its columns and their order,
--             which is that of their numbers. Only if a column was dropped and another added under its name, both
--             between two checks of the table, the age of the writing transaction decides.
-- Parameters: expressions for image, change id and transaction
-- Result:     an expression: n of shape; null when the image lacks columns (a deleted row's may have only the key)
create or replace function rowrelay.past_shape_of(image text, change_id text, txid text) returns text
language sql immutable as $$
  select format($sql$(
      select s.n from shape s, (select array(select pg_catalog.json_object_keys(%1$s)) as names offset 0) as k
       where %2$s <= s.until_id
         and (s.names = k.names
              or s.sorted = array(select u.name from unnest(k.names) as u(name) order by u.name collate "C"))
       order by s.names = k.names desc, s.altered_by <= %3$s desc, case when s.altered_by <= %3$s then -s.n else s.n end
       limit 1)$sql$, image, change_id, txid)
$$;
