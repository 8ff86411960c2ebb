-- Functions and operators of the extensions are found first, where a session says so.
select count(*) from pg_extension where extnamespace = 'public'::regnamespace;
set search_path = public, pg_catalog, shop;
insert into shop.plain select n + (select coalesce(max(id) filter (where id < 100000), 0) from shop.plain),
  array[n, 3]::int2[], array[n, 7], 'w' || n, '2026-01-01', n / 3.0, '{"a": [1, null]}'
  from generate_series(1, 20) as n;
insert into shop.named values ('Ann', 'X', '2000-01-01'), ('Bob', null,
  null) on conflict (name) do update set other = shop.named.other || '.';
update shop.plain set small = small || 9::int2, numbers = numbers + 1, word = upper(word) where id % 3 = 0;
update shop.plain set id = id + 100000 where id % 7 = 0 and id < 100000;
update shop.named set name = upper(name) where name = 'ann' returning name, other;
delete from shop.plain where id % 5 = 0;
insert into shop.lost select n, 'b' from generate_series(1, 9) as n;
update shop.lost set b = 'c' where a = 3;
delete from shop.lost where a = 4;
alter table shop.plain add column if not exists more int2[] default '{1,2}';
update shop.plain set more = more || 5::int2 where numbers[1] = 8;
do $$ begin update shop.plain set word = word || '?' where id = 2; update shop.plain set word = word || '!'
  where id = 2; end $$;
begin;
truncate shop.lost;
insert into shop.lost values (1, 'one');
commit;
insert into shop.plain (id) values (2);
select count(*), sum(id), sum(cardinality(small)), sum(cardinality(more)), string_agg(word, ',' order by id)
  from shop.plain;
select * from shop.named order by name;
select * from shop.lost order by 1, 2;
