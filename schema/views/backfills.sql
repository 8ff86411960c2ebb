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
       coalesce(case when b.finished_at is null then rowrelay.backfill_stranger(b.id) end,
                b.note || case when b.state = 'cancelled' and cardinality(c.key_columns) = 0
                               then '; and the table has no key: start it again, then empty it there, for which it '
                                    || 'waits'
                               else '' end) as note,
       -- nothing else tells of rows that were there before and are missing
       case when b.state = 'cancelled' and c.released_at is null
                 and exists (select from rowrelay.route r
                              where r.capture = b.capture and r.target = b.target and r.until_id is null)
            then rowrelay.command('rowrelay backfill %s --to %s', 'select rowrelay.backfill(%L, %L);', c.relation_name,
                                  t.name) end as start_again
  from rowrelay.backfill b
  join rowrelay.capture c on c.id = b.capture
  join rowrelay.target t on t.id = b.target
 where t.dropped_at is null;
comment on view rowrelay.backfills is 'copies of the rows that a table had before it was routed to a target; driver: '
                                      'process id, at the source, of the connection that works on it; start_again: '
                                      'what does that, if it ended too early; see rowrelay.backfill() and '
                                      'rowrelay.cancel_backfill()';
