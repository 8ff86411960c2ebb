-- What is captured and where it goes; it may be run again. The password is filled in by the process that pushes.
begin;
select rowrelay.add_target('warehouse', 'postgresql://postgres:${TARGET_PASSWORD}@target/warehouse')
 where not exists (select from rowrelay.targets where name = 'warehouse');
select rowrelay.capture_table('shop.customers'), rowrelay.capture_table('shop.orders', before => 'full');
select rowrelay.route('shop.customers', 'warehouse', create_table => true),
       rowrelay.route('shop.orders', 'warehouse', create_table => true);
-- a copy of what is there already
select rowrelay.backfill(t, 'warehouse')
  from unnest('{shop.customers,shop.orders}'::regclass[]) as t
 where not exists (select from rowrelay.backfills where target = 'warehouse' and relation_name = t::text);
commit;
