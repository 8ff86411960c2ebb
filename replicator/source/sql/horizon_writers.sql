-- The transactions that may still commit an id given out before, and whether any of an earlier list is among them.
--   $1 the earlier list
select w.writers, w.writers && $1::text[] from (select rowrelay.writers() as writers) as w;
