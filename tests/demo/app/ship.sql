-- The oldest paid order leaves the house, with a warranty for its first line.
begin;
select coalesce(max(id), 0) as id
  from (select id from shop.orders where status = 'paid' order by id limit 1 for update skip locked) o \gset
\if :id > 0
insert into shop.shipments (order_id, carrier, tracking) values (:id, 'DHL', 'TR' || 100000 + :id);
insert into shop.shipment_events values ('TR' || 100000 + :id, 'PU', 'Lager 1', localtimestamp);
insert into shop.warranties (order_id, line_no, serial_no, valid)
  select order_id, line_no, 'SN-' || order_id || '/' || line_no, daterange(current_date, current_date + 730)
    from shop.order_lines where order_id = :id and line_no = 1;
update shop.orders set status = 'shipped' where id = :id;
\endif
commit;
