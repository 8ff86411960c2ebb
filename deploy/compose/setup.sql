-- Sets up what is captured and where it goes. It can be run again. The process that pushes fills in the password.
begin;
select rowrelay.add_target('warehouse', 'postgresql://postgres:${TARGET_PASSWORD}@target/warehouse')
 where not exists (select from rowrelay.targets where name = 'warehouse');
select rowrelay.capture_table('shop.customers'), rowrelay.capture_table('shop.orders', before => 'full');
select rowrelay.route('shop.customers', 'warehouse', create_table => true),
       rowrelay.route('shop.orders', 'warehouse', create_table => true);
-- copies existing rows
select rowrelay.backfill(t, 'warehouse')
  from unnest('{shop.customers,shop.orders}'::regclass[]) as t
 where not exists (select from rowrelay.backfills where target = 'warehouse' and relation_name = t::text);
commit;
