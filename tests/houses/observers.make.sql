create table customer (id serial primary key, name text not null unique, note jsonb, tags text[]);
create table orders (id int8 generated always as identity primary key,
  customer int references customer on delete cascade, total numeric);
create table event (at timestamptz default '2026-01-01', what text);
create function buy(who text, many int) returns int8 language plpgsql as $$
declare buyer int;
begin
  insert into customer (name, note) values (who, jsonb_build_object('n', many)) returning id into buyer;
  for n in 1 .. many loop
    insert into orders (customer, total) values (buyer, n);
  end loop;
  update orders set total = total + 1 where customer = buyer;
  delete from orders where customer = buyer and total > 4;
  return lastval() - (select max(id) from orders);
end $$;
