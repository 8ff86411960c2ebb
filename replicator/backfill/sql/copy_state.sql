-- The state of backfill $1, as copying its table as a whole needs it.
-- Gives copy: is_copy, state, snapshot, give_up, rate, rows, estimated, capture, target, target_name, target_state,
--   columns, forbidden
select b.way = 'copy' and b.state in ('waiting', 'done') or b.state in ('copying', 'joining') as is_copy, b.state,
       b.snapshot, b.give_up, b.rate, b.rows_read as rows, b.rows_estimated as estimated, b.capture, b.target,
       t.name as target_name, t.state as target_state,
       rowrelay.copy_columns(c) as columns,
       case when not has_table_privilege(c.relation, 'select')
            then format('role %I may not read table %s', current_user, c.relation_name)
            when row_security_active(c.relation)
            then format('row-level security hides rows of table %s from role %I', c.relation_name, current_user)
       end as forbidden
  from rowrelay.backfill b
  join rowrelay.capture c on c.id = b.capture
  join rowrelay.target t on t.id = b.target
 where b.id = $1::integer;
