-- Truncates of the tables that the caller may read.
create or replace view rowrelay.readable_truncation with (security_barrier) as
select h.*
  from rowrelay.truncation h
 where h.capture = any ((select rowrelay.readable_captures())::integer[]);
comment on view rowrelay.readable_truncation is 'rows of rowrelay.truncation of tables that the caller may read';
