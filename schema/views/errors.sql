-- Refused changes, with the target's message, the changes that wait behind them, and those that wait because the target
-- cannot take their table; only of tables that the caller may read.
create or replace view rowrelay.errors with (security_barrier) as
select t.name as target,
       f.change_id,
       c.relation,
       case h.op when 'i' then 'insert' when 'u' then 'update' when 'd' then 'delete' when 't' then 'truncate'
                 when 'b' then 'barrier' when 'r' then 'refresh' else 'snapshot' end as op,
       f.key,
       f.state,
       f.attempts,
       case when f.state = 'waiting' then w.sqlstate else f.sqlstate end as sqlstate,
       case when f.state = 'waiting' then coalesce(w.message, f.message) else f.message end as message,
       case when f.state = 'waiting' then w.hint
            when f.perhaps_sent is null or f.message like 'the source %, so this change may have been delivered before'
            then f.detail
            else concat_ws('; ', nullif(f.detail, ''),
                           format('the source %s since it was refused: if it was retried in between, it may have been '
                                  'delivered, and would come twice. Look there before you retry it', f.perhaps_sent))
       end as detail,
       f.refused_at,
       h.old_row,
       h.new_row,
       c.relation_name,
       case when f.state = 'waiting' then coalesce(w.message, f.message)
            else coalesce(f.kind, f.message) end as kind
  from rowrelay.refusal f
  join rowrelay.target t on t.id = f.target
  join rowrelay.capture c on c.id = f.capture
  left join rowrelay.hold w on w.target = f.target and w.capture = f.capture
  left join rowrelay.change h on h.id = f.change_id and h.day = f.day
 where rowrelay.may_read(c.relation);
comment on view rowrelay.errors is 'refused changes and those that wait behind them; see rowrelay.retry() and '
                                   'rowrelay.skip()';
