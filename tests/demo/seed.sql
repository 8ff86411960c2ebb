-- The shop's rows from before capturing: 4,000 customers, 500 items, 1,500 orders, and all that belongs to them.

set search_path = shop;
select setseed(0.42);

insert into customers (id, "Customer No", name, birthday, newsletter, credit_limit, created)
select n, 'K-' || lpad((n * 7)::text, 7, '0'),
       (array['Zoë', 'Łukasz', 'Søren', 'Anna', 'José', 'Thị Hà', 'Ирина', 'Mehmet', 'Éloïse',
              '健太'])[1 + n % 10] || ' ' ||
       (array['Müller', 'Nowak', 'O''Neill', 'Jørgensen', 'García', 'Nguyễn', 'Иванова', 'Çelik',
              '山田'])[1 + n % 9],
       date '1950-01-01' + n * 11 % 20000, n % 3 = 0, case when n % 4 > 0 then 500 * (n % 9) end,
       localtimestamp - interval '15 years' + n * interval '2 days'
  from generate_series(1, 4000) n;
alter table customers alter id restart with 4001;

insert into addresses (customer_id, kind, street, "Postal Code", city, country)
select n % 4000 + 1, case when n > 4000 then 'I' else 'D' end, 'Straße des ' || n % 30 + 1 || '. Mai ' || n % 97,
       lpad((n * 37 % 99999)::text, 5, '0'), (array['Köln', 'Kraków', 'Århus', 'A Coruña', 'Lyon'])[1 + n % 5],
       (array['DE', 'PL', 'DK', 'ES', 'FR'])[1 + n % 5]
  from generate_series(1, 4500) n;

insert into phones
select n, case when n % 3 = 0 then 'work' else 'mob' end, '+49 ' || 150 + n % 30 || ' ' || 1000000 + n * 331
  from generate_series(1, 1500) n;

insert into emails (customer_id, email, verified)
select n, 'customer' || n || '@shop.example', case when n % 5 > 0 then now() - n * interval '1 hour' end
  from generate_series(1, 4000) n;

insert into items (code, cost, weight_kg, stock, tags, attributes, thumbnail)
select 'A' || lpad(n::text, 6, '0'), 1 + n * 0.7331, random() * 30, 1000, array['t' || n % 7, 'größe ' || n % 5],
       jsonb_build_object('colour', (array['red', 'grün', '蓝'])[1 + n % 3], 'size', n % 50),
       decode(md5(n::text), 'hex')
  from generate_series(1, 500) n;

insert into item_texts
select id, language, language || ' ' || trim(code),
  case when id % 3 > 0 then repeat('naïve “quoted” text, 10 €; ', id % 9) end
  from items, unnest(array['de', 'en']) language;

insert into prices
select id, currency, date '2024-01-01', round(cost * factor, 2)
  from items, (values ('EUR', 1.4), ('PLN', 6.1)) as c (currency, factor);

insert into orders (customer_id, status, placed_at, deliver_on, remark)
select 1 + n * 13 % 4000, (array['new', 'paid', 'shipped', 'closed', 'cancelled']::order_status[])[1 + n % 5],
       now() - (1500 - n) * interval '1 hour', current_date - (1500 - n) / 24 + 5,
         case when n % 10 = 0 then 'Bitte klingeln ☎' end
  from generate_series(1, 1500) n;

insert into order_lines (order_id, line_no, item_id, quantity, unit_price, discount)
select o.id, l, p.item_id, 1 + (o.id + l) % 3, p.amount, case when o.id % 8 = 0 then 0.05 else 0 end
  from orders o, generate_series(1, 3) l
  join prices p on p.currency = 'EUR'
 where p.item_id = 1 + (o.id * 17 + l * 29) % 500;

insert into payments (order_id, paid_at, method, amount)
select id, placed_at + interval '5 minutes', (array['CC', 'PP', 'BT'])[1 + id % 3], total
  from orders where status in ('paid', 'shipped', 'closed');

insert into shipments (order_id, carrier, tracking, shipped_at)
select id, (array['DHL', 'UPS', 'GLS'])[1 + id % 3], 'TR' || 100000 + id, placed_at + interval '1 day'
  from orders where status in ('shipped', 'closed');

insert into shipment_events
select tracking, e, (array['Köln', 'Łódź', 'Hub 7'])[1 + id % 3], shipped_at + random() * interval '3 days'
  from shipments, unnest(array['PU', 'HU', 'OD']) e;

insert into warranties (order_id, line_no, serial_no, valid)
select order_id, line_no, 'SN-' || order_id || '/' || line_no, daterange(current_date - 100, current_date + 630)
  from order_lines where line_no = 1 and order_id % 4 = 3;

insert into warranty_notes (warranty_id, note)
select id, 'Gerät geprüft, läuft wieder' from warranties where id % 2 = 0;

insert into refunds (payment_id, paid_at, amount, reason)
select id, paid_at, round(amount / 3, 2), 'zu spät' from payments where id % 9 = 0;

insert into returns (order_id, line_no, quantity, kept_for, reason)
select order_id, line_no, 1, order_id % 30 * interval '1 day 02:03:04.5', 'gefällt nicht'
  from order_lines where line_no = 2 and order_id % 7 = 3;

insert into comments (order_id, customer_id, body, stars)
select id, customer_id, (array['Super! 👍', 'geht so', 'trop cher…', 'nie wieder'])[1 + id % 4], 1 + id % 5
  from orders where id % 3 = 0;

analyze customers, addresses, phones, emails, items, item_texts, prices, orders, order_lines, shipments,
  shipment_events,
  warranties, warranty_notes, returns, comments, payments, refunds;
