-- The changes that the caller may read: for functions that search the log with their caller's rights.
create or replace view rowrelay.readable_change with (security_barrier) as
select h.*
  from rowrelay.change h
 where h.capture = any ((select rowrelay.readable_captures())::integer[]);
comment on view rowrelay.readable_change is 'rows of rowrelay.change of tables that the caller may read';
