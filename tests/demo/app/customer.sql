-- A customer moves, changes a number, confirms an e-mail address.
\set customer random(1, 4000)
\set number random(100000, 999999)
begin;
update shop.customers set changed_at = now(), points = points + 1 where id = :customer;
update shop.addresses set street = 'Neue Straße ' || :number, "Postal Code" = null where customer_id = :customer;
insert into shop.phones values (:customer, 'mob', :number) on conflict (customer_id, kind) do update
  set number = excluded.number;
update shop.emails set verified = now() where customer_id = :customer;
commit;
