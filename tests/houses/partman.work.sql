set client_min_messages = warning;
-- Rows for partitions that are there, and for the default one.
insert into measure select date_trunc('day', now()) - n * interval '1 day', (select count(*) from measure), n
  from generate_series(-6, 3) as n;
insert into numbered (note) select 'n' || n from generate_series(1, 25) as n;
insert into numbered select 1000 + count(*), 'far' from numbered;
update measure set value = value + 1 where value > 0;
update measure set at = at + interval '1 hour' where value = -1;
select count(*) from partman.partition_gap_fill('public.numbered');
call partman.partition_data_proc('public.measure', p_wait => 0);
call partman.partition_data_proc('public.numbered', p_wait => 0);
select partman.run_maintenance('public.measure', p_analyze => false);
select partman.run_maintenance('public.numbered', p_analyze => false);
select count(*) from only measure_default;
delete from numbered where id % 4 = 0;
select count(*), sum(id), count(distinct tableoid) from numbered;
select count(*), sum(value), count(distinct tableoid), lastval() - (select max(id) from numbered
  where id < 1000) from measure;
update partman.part_config set retention = '5', retention_keep_table = false where parent_table = 'public.numbered';
select count(*) from pg_inherits where inhparent in ('measure'::regclass, 'numbered'::regclass);
