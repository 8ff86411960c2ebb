-- What part "documents" of the benchmark works on: orders with three lines each, of a tenth as many customers.
--   orders  how many

create table customer (id integer primary key, name text not null, visits integer not null default 0);
create table orders (id bigint primary key, customer_id integer not null, status text not null,
                     placed_on date not null);
create table line (id bigint primary key, order_id bigint not null, item text not null, quantity integer not null,
                   price numeric(10,2) not null, note text);

insert into customer select n, 'name' || n || ' of street' || n % 5000 from generate_series(1, :orders / 10) as n;
insert into orders
  select n, 1 + n * 7 % (:orders / 10), (array['new', 'paid', 'shipped', 'closed'])[1 + n % 4],
    date '2020-01-01' + (n % 1500)::integer
    from generate_series(1::bigint, :orders) as n;
insert into line
  select n, (n + 2) / 3, 'word' || n * 7919 % 5003 || ' kind' || n % 97, 1 + n % 5, n % 1000 / 8.0
    from generate_series(1::bigint, 3 * :orders) as n;
create index on orders (customer_id);
create index on line (order_id);
vacuum analyze customer, orders, line;

create view order_document as
select o.id, o.status, o.placed_on, c.name as customer,
       (select string_agg(concat_ws(' ', l.item, l.note), ', ' order by l.id) from line l
        where l.order_id = o.id) as items,
       (select sum(l.quantity * l.price) from line l where l.order_id = o.id) as total
  from orders o join customer c on c.id = o.customer_id;
