-- A customer says something, and thinks better of something else.
\set customer random(1, 4000)
\set stars random(1, 5)
insert into shop.comments (customer_id, body, stars) values (:customer, 'ça va 🙂', :stars);
update shop.comments set body = body || ' (edited)', written_at = now()
 where id = (select min(id) from shop.comments where customer_id = :customer and length(body) < 40);
