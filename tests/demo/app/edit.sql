-- A clerk changes an order: a quantity, a line that is taken back at once, the number of the last line (a change of a
-- key that foreign keys follow), a remark.
begin;
select coalesce(max(id), 0) as id
  from (select id from shop.orders where status = 'new' order by id desc limit 1 for update skip locked) o \gset
\if :id > 0
update shop.order_lines set quantity = quantity + 1 where order_id = :id and line_no = 1;
savepoint before_line;
insert into shop.order_lines (order_id, line_no, item_id, quantity, unit_price) values (:id, 99, 7, 1, 1.00);
rollback to before_line;
update shop.order_lines set line_no = line_no + 10
 where order_id = :id and line_no = (select max(line_no) from shop.order_lines where order_id = :id) and line_no < 20;
update shop.orders set remark = 'geändert ✎' where id = :id;
\endif
commit;
