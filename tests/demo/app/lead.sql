-- Somebody signs up, somebody else who never ordered is forgotten.
begin;
insert into shop.customers ("Customer No", name, kind) values ('L-' || txid_current(), 'Lead ' || txid_current(), 'L')
  returning id \gset
insert into shop.addresses (customer_id, street, city) values (:id, 'unbekannt', 'Zürich');
insert into shop.emails (customer_id, email) values (:id, 'lead' || :id || '@shop.example');
insert into shop.comments (customer_id, body) values (:id, 'Newsletter?');
commit;
delete from shop.customers
 where id = (select id from shop.customers where id > 4000 and id < :id - 50
             order by id limit 1 for update skip locked);
