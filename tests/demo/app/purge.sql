-- The oldest finished order is deleted; foreign keys take all that hangs on it along, but for the carrier's events.
begin;
select coalesce(max(id), 0) as id
  from (select id from shop.orders where status in ('closed', 'cancelled')
        order by id limit 1 for update skip locked) o \gset
delete from shop.shipment_events where tracking in (select tracking from shop.shipments where order_id = :id);
delete from shop.orders where id = :id;
commit;
