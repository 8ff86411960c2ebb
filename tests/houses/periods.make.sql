set client_min_messages = warning;
create table staff (id int primary key, name text, salary numeric);
create table booking (room int, guest text, starts date, ends date, number serial primary key);
select periods.add_system_time_period('staff');
select periods.add_system_versioning('staff');
select periods.add_period('booking', 'stay', 'starts', 'ends');
select periods.add_unique_key('booking', array['room'], 'stay');
select periods.add_for_portion_view('booking', 'stay');
