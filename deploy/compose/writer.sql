\set order random(1, 1000)
\set customer random(1, 100)
begin;
update shop.orders
   set status = case status when 'new' then 'packed' when 'packed' then 'sent' else 'new' end, changed_at = now()
 where id = :order;
insert into shop.orders (customer_id, item) values (:customer, 'item ' || :order);
commit;
