select buy('c' || count(*), 6) from customer;
begin;
insert into customer (name, tags) select 'many ' || n || ' ' || (select count(*) from customer), array['a',
  n::text] from generate_series(1, 5) as n;
savepoint a;
update customer set id = id + 100000 where id % 2 = 0 and id < 100000 and not exists (select from orders
  where customer = customer.id);
rollback to a;
update customer set note = '{"x": 1}' where id % 2 = 0;
commit;
insert into event (what) values ('a'), ('b'), ('b');
update event set what = 'c' where what = 'b';
delete from event where what = 'a';
truncate event;
copy event (what) from stdin;
copied
\.
insert into orders (customer) values (-1);
delete from customer where id % 4 = 0;
explain (costs off, timing off, summary off) select * from customer where name = 'x';
select count(*), sum(id), sum(total) from orders;
select count(*), sum(id), max(name) from customer;
