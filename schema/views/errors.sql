-- Changes that a target refused, with its words, and those that wait behind them; of tables that the caller may read.
create or replace view rowrelay.errors with (security_barrier) as
select t.name as target,
       f.change_id,
       c.relation,
       case h.op when 'i' then 'insert' when 'u' then 'update' when 'd' then 'delete' when 't' then 'truncate'
                 when 'b' then 'barrier' when 'r' then 'refresh' else 'snapshot' end as op,
       f.key,
       f.state,
       f.attempts,
       f.sqlstate,
       f.message,
       f.detail,
       f.refused_at,
       h.old_row,
       h.new_row
  from rowrelay.refusal f
  join rowrelay.target t on t.id = f.target
  join rowrelay.capture c on c.id = f.capture
  left join rowrelay.change h on h.id = f.change_id and h.day = f.day
 where rowrelay.may_read(c.relation);
comment on view rowrelay.errors is 'changes that a target refused; see rowrelay.retry() and rowrelay.skip()';
