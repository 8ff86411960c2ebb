-- The oldest unpaid order is paid. The card terminals' job was never told that the table is partitioned by now through
-- its parent: it writes straight to the month's partition.
begin;
select coalesce(max(id), 0) as id
  from (select id from shop.orders where status = 'new' order by id limit 1 for update skip locked) o \gset
\if :id % 3 = 0 and :id > 0
insert into shop.payments_:month (order_id, paid_at, method, amount)
  select id, to_timestamp(:month::text, 'YYYYMM') + (now() - date_trunc('month', now())), 'CC', total
    from shop.orders where id = :id;
\elif :id > 0
insert into shop.payments (order_id, method, amount) select id, 'PP', total from shop.orders where id = :id;
\endif
update shop.orders set status = 'paid' where id = :id;
commit;
