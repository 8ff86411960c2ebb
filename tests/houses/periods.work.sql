set client_min_messages = warning;
insert into staff select n + (select coalesce(max(id), 0) from staff), 'n' || n, n from generate_series(1, 5) as n;
update staff set salary = salary + 10 where id % 2 = 0;
delete from staff where id % 5 = 0;
select count(*), sum(id), sum(salary) from staff;
insert into booking (room, guest, starts, ends) select n, 'g' || n, '2026-01-01', '2026-02-01'
  from generate_series(1, 4) as n;
update booking set ends = '2026-03-01' where room = 1;
update booking set number = number + 10000 where room = 2 and number < 10000;
delete from booking where room = 3;
update booking__for_portion_of_stay set guest = 'portion', starts = '2026-01-10', ends = '2026-01-20'
  where room = 4;
select count(*), sum(number), max(ends) from booking;
select count(*), sum(id), sum(salary) from staff_history;
insert into booking (room, guest, starts, ends) values (4, 'overlaps', '2026-01-12', '2026-01-13');
truncate booking;
