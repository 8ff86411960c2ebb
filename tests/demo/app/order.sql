-- A customer orders one to four items.
\set customer random(1, 4000)
\set item random(1, 400)
\set lines random(1, 4)
begin;
insert into shop.orders (customer_id, deliver_on) values (:customer, current_date + 5) returning id \gset
insert into shop.order_lines (order_id, line_no, item_id, quantity, unit_price)
  select :id, n, item_id, 1 + n % 2, amount
    from generate_series(1, :lines) n join shop.prices on item_id = :item + 20 * n and currency = 'EUR';
update shop.items set stock = stock - 1 where id = :item + 20;
commit;
