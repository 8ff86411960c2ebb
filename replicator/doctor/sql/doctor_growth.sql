-- How fast the log would grow, by what the server has counted since its statistics began.
--   $1 oids of the tables
-- Gives finding: level, what, tables, meaning, command
with recursive member (oid) as ( -- with their partitions and children
  select unnest($1::oid[])
  union
  select i.inhrelid from member m join pg_catalog.pg_inherits i on i.inhparent = m.oid
), since as (
  select extract(epoch from clock_timestamp() - coalesce(d.stats_reset, w.stats_reset)) / 86400 as days
    from pg_catalog.pg_stat_database d, pg_catalog.pg_stat_bgwriter w
   where d.datname = current_database()
), growth as (
  select sum(s.n_tup_ins + s.n_tup_upd + s.n_tup_del) as changes,
         sum((s.n_tup_ins + s.n_tup_upd + s.n_tup_del)
             -- as JSON a row is some twice as long; beside it 125 bytes, and 80 to find it
             * (205 + 2 * case when c.reltuples > 0 then least(pg_catalog.pg_relation_size(c.oid) / c.reltuples, 4000)
                               else 100 end)) as bytes
    from member m
    join pg_catalog.pg_class c on c.oid = m.oid
    join pg_catalog.pg_stat_user_tables s on s.relid = c.oid
)
select 'ok' as level, 'growth' as what, null::json as tables,
       format('some %s changes a day are made in them, which would be %s a day in the log', round(g.changes / s.days),
              pg_catalog.pg_size_pretty(round(g.bytes::numeric / s.days::numeric))) as meaning, null as command
  from growth g, since s
 where s.days > 0.01 and g.changes > 0; -- a quarter of an hour
