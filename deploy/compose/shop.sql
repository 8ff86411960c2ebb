-- The source's tables, with rows from before they are captured.
create schema shop;
create table shop.customers (id int primary key, name text not null);
create table shop.orders (
  id          bigint generated always as identity primary key,
  customer_id int not null references shop.customers,
  item        text not null,
  status      text not null default 'new',
  changed_at  timestamptz not null default now());
insert into shop.customers select n, 'customer ' || n from generate_series(1, 100) as n;
insert into shop.orders (customer_id, item) select 1 + n % 100, 'item ' || n from generate_series(1, 1000) as n;
