-- Backfills: the progress of each, which process works on it, and what it waits for.
create or replace view rowrelay.backfills as
select c.relation,
       c.relation_name,
       t.name as target,
       b.state,
       b.rows_queued as rows,
       case when b.state = 'done' then 100
            else least(99,
                       floor(100.0 * b.rows_read / greatest(b.rows_estimated, b.rows_read, 1))) end::integer as percent,
       b.rows_estimated,
       b.row_filter,
       (select l.pid from pg_locks l
         where l.locktype = 'advisory' and l.classid = rowrelay.backfill_lock()::oid and l.objid = b.id::oid
           and l.objsubid = 2 and l.granted
           and l.database = (select d.oid from pg_database d where d.datname = current_database())) as driver,
       b.registered_at,
       b.started_at,
       b.finished_at,
       coalesce(case when b.finished_at is null then rowrelay.backfill_stranger(b.id) end, b.note) as note
  from rowrelay.backfill b
  join rowrelay.capture c on c.id = b.capture
  join rowrelay.target t on t.id = b.target
 where t.dropped_at is null;
comment on view rowrelay.backfills is 'copies of the rows that a table had before it was routed to a target; driver: '
                                      'process id, at the source, of the connection that works on it; see '
                                      'rowrelay.backfill() and rowrelay.cancel_backfill()';
