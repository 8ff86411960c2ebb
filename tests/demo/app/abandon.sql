-- A customer fills a basket and leaves: nothing of it may be seen anywhere.
\set customer random(1, 4000)
\set item random(1, 400)
begin;
insert into shop.orders (customer_id, remark) values (:customer, 'abandoned') returning id \gset
insert into shop.order_lines (order_id, line_no, item_id, quantity, unit_price) values (:id, 1, :item, 1, 9.99);
update shop.customers set points = points + 1000 where id = :customer;
rollback;
