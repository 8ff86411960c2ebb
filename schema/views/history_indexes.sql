-- The expressions by which closed days of the log are indexed, and on how many days already.
create or replace view rowrelay.history_indexes as
select x.expression,
       x.method,
       i.days,
       (select count(*) from rowrelay.history_index_work() w where w.wanted = x.id) as days_to_do,
       i.bytes,
       x.problem
  from rowrelay.history_index x
  cross join lateral (
    select count(*) as days, coalesce(sum(pg_relation_size(c.oid)), 0) as bytes
      from pg_class c
     where c.relnamespace = 'rowrelay'::regnamespace and c.relname ~ format('^history_%s_[0-9]{8}$', x.id)) as i;
comment on view rowrelay.history_indexes is 'expressions by which closed days of the log are indexed; see '
                                            'rowrelay.index_history()';
