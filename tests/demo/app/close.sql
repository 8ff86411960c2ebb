-- The oldest shipped order has arrived; now and then something of it comes back and money is returned, or the
-- bookkeeper numbers its lines anew: a change of keys that warranties and returns follow.
\set luck random(1, 4)
begin;
select coalesce(max(id), 0) as id
  from (select id from shop.orders where status = 'shipped' order by id limit 1 for update skip locked) o \gset
insert into shop.shipment_events
  select tracking, 'DE', 'zu Hause', localtimestamp from shop.shipments where order_id = :id;
update shop.orders set status = 'closed' where id = :id;
\if :luck = 1
insert into shop.returns (order_id, line_no, quantity, kept_for, reason)
  select order_id, line_no, quantity, now() - '2026-01-01', 'défectueux'
    from shop.order_lines where order_id = :id and line_no = 1;
insert into shop.refunds (payment_id, paid_at, amount, reason)
  select id, paid_at, amount, 'Rückgabe' from shop.payments where order_id = :id;
insert into shop.warranty_notes (warranty_id, note)
  select id, 'zurückgeschickt' from shop.warranties where order_id = :id;
\elif :luck = 2
update shop.order_lines set line_no = line_no + 10 where order_id = :id;
\endif
commit;
