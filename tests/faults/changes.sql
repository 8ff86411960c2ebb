-- Changes of every kind, to be delivered.
insert into shop.customers select n, 'new ' || n, json_build_object('b', n) from generate_series(101, 110) n;
update shop.customers set name = name || E' \u00fc\t"x"' where id % 5 = 0;
update shop.customers set id = id + 1000 where id = 7;
delete from shop.customers where id between 20 and 24;
insert into shop.orders select n, 1 + n % 40, null from generate_series(201, 205) n;
begin;
update shop.orders set total = coalesce(total, 0) + 1 where id < 20;
delete from shop.orders where id in (3, 201);
commit;
insert into shop."Odd Ones" values ('x', 99, null), (E'two\nlines', 100, '\x01');
update shop."Odd Ones" set v = '\xaa' where b < 4;
insert into shop.remarks select n, 'remark ' || n from generate_series(1, 6) n;
delete from shop.remarks where at = 2;
truncate shop.remarks;
insert into shop.remarks values (7, 'after'), (7, 'after');
update shop.customers set note = null where id = 101;
