select o.id, o.total, c.name as customer
  from shop.orders o left join shop.customers c on c.id = o.customer_id
 where o.id = any ($1)
