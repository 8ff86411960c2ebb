-- What targets must have, a line for each table: its name, how many rows, and a hash of them in any order; of the log,
-- how many changes, and the sum of their ids.
create temp view wanted as select * from rowrelay.history where op in ('insert', 'update', 'delete', 'truncate');
select 'customers', count(*), md5(string_agg(t::text, e'\n' order by t::text)) from shop.customers t;
select 'orders', count(*), md5(string_agg(t::text, e'\n' order by t::text)) from shop.orders t;
select 'odd ones', count(*), md5(string_agg(t::text, e'\n' order by t::text)) from shop."Odd Ones" t;
select 'remarks', count(*), md5(string_agg(t::text, e'\n' order by t::text)) from shop.remarks t;
select 'doc', count(*), md5(string_agg(t::text, e'\n' order by t::text))
  from (select o.id, o.total, c.name as customer
          from shop.orders o left join shop.customers c on c.id = o.customer_id) t;
select 'log of customers', count(*), sum(change_id) from wanted where relation = 'shop.customers'::regclass;
select 'log of orders', count(*), sum(change_id) from wanted where relation = 'shop.orders'::regclass;
select 'log of odd ones', count(*), sum(change_id) from wanted where relation = 'shop."Odd Ones"'::regclass;
select 'log of remarks', count(*), sum(change_id) from wanted where relation = 'shop.remarks'::regclass;
