-- What is there of what at_source.sql tells.
select 'customers', count(*), md5(string_agg(t::text, e'\n' order by t::text)) from shop.customers t;
select 'orders', count(*), md5(string_agg(t::text, e'\n' order by t::text)) from shop.orders t;
select 'odd ones', count(*), md5(string_agg(t::text, e'\n' order by t::text)) from shop."Odd Ones" t;
select 'remarks', count(*), md5(string_agg(t::text, e'\n' order by t::text)) from shop.remarks t;
select 'doc', count(*), md5(string_agg(t::text, e'\n' order by t::text)) from doc t;
select 'log of customers', count(*), sum(change_id) from shop.customers_changes;
select 'log of orders', count(*), sum(change_id) from shop.orders_changes;
select 'log of odd ones', count(*), sum(change_id) from shop."Odd Ones_changes";
select 'log of remarks', count(*), sum(change_id) from shop.remarks_changes;
