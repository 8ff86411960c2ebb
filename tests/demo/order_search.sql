-- One row for each order, from the shop's seventeen tables: everything by which a person may search for an order.
-- $1 is the array of the orders to build; demo.sh says which changed row leads to which orders.
select o.id as order_id,
       o.status,
       o.placed_at,
       o.total,
       o.currency,
       o.remark,
       c."Customer No" as customer_no,
       c.name as customer,
       contact.addresses,
       contact.phones,
       contact.emails,
       bought.lines,
       service.warranties,
       service.returns,
       paid.payments,
       sent.shipments,
       said.comments
  from shop.orders o
  join shop.customers c on c.id = o.customer_id
  cross join lateral (
    select (select jsonb_agg(concat_ws(', ', a.street, a."Postal Code", a.city, a.country) order by a.id)
              from shop.addresses a where a.customer_id = c.id) as addresses,
           (select jsonb_agg(p.number order by p.kind) from shop.phones p where p.customer_id = c.id) as phones,
           (select jsonb_agg(e.email order by e.id) from shop.emails e where e.customer_id = c.id) as emails) as contact
  cross join lateral (
    select jsonb_agg(jsonb_build_object(
             'no', l.line_no, 'item', i.code, 'tags', i.tags, 'colour', i.attributes ->> 'colour',
             'titles', (select jsonb_object_agg(t.language, t.title) from shop.item_texts t where t.item_id = i.id),
             'quantity', l.quantity, 'amount', l.amount, 'price today', today.amount) order by l.line_no) as lines
      from shop.order_lines l
      join shop.items i on i.id = l.item_id
      left join lateral (
        select p.amount from shop.prices p
         where p.item_id = i.id and p.currency = o.currency
         order by p.valid_from desc limit 1) as today on true
     where l.order_id = o.id) as bought
  cross join lateral (
    select (select jsonb_agg(jsonb_build_object(
                     'serial no', w.serial_no, 'until', upper(w.valid),
                     'notes', (select jsonb_agg(n.note order by n.id) from shop.warranty_notes n
                               where n.warranty_id = w.id))
                   order by w.id)
              from shop.warranties w where w.order_id = o.id) as warranties,
           (select jsonb_agg(jsonb_build_object('line', r.line_no, 'quantity', r.quantity, 'reason', r.reason)
                             order by r.id)
              from shop.returns r where r.order_id = o.id) as returns) as service
  cross join lateral (
    select jsonb_agg(jsonb_build_object(
             'method', p.method, 'amount', p.amount,
             'refunds', (select jsonb_agg(jsonb_build_object('amount', r.amount, 'reason', r.reason) order by r.id)
                           from shop.refunds r where r.payment_id = p.id and r.paid_at = p.paid_at))
                             order by p.id) as payments
      from shop.payments p where p.order_id = o.id) as paid
  cross join lateral (
    select jsonb_agg(jsonb_build_object(
             'carrier', s.carrier, 'tracking', s.tracking,
             'events', (select jsonb_agg(jsonb_build_array(e.event, e.place, e.event_at) order by e.event_at,
                                         e.event, e.place)
                          from shop.shipment_events e where e.tracking = s.tracking)) order by s.id) as shipments
      from shop.shipments s where s.order_id = o.id) as sent
  cross join lateral (
    select jsonb_agg(m.body order by m.id) as comments from shop.comments m where m.order_id = o.id) as said
 where o.id = any ($1)
