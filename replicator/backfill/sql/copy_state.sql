-- What there is to know of backfill $1 for copying its table as a whole.
select b.way = 'copy' and b.state in ('waiting', 'done') or b.state in ('copying', 'joining'), b.state, b.snapshot, b.give_up, b.rate,
       b.rows_read, b.rows_estimated, b.capture, b.target, t.name, t.state, rowrelay.copy_columns(c),
       case when not has_table_privilege(c.relation, 'select') then format('role %I may not read table %s', current_user, c.relation_name)
            when row_security_active(c.relation)
              then format('row-level security hides rows of table %s from role %I', c.relation_name, current_user) end
  from rowrelay.backfill b
  join rowrelay.capture c on c.id = b.capture
  join rowrelay.target t on t.id = b.target
 where b.id = $1::integer;
