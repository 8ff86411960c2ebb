-- The log, as far as the caller may read it: for functions that find changes with the rights of who calls them.
create or replace view rowrelay.readable_change with (security_barrier) as
select h.*
  from rowrelay.change h
 where h.capture = any ((select rowrelay.readable_captures())::integer[]);
comment on view rowrelay.readable_change is 'rows of rowrelay.change of tables that one may read';
