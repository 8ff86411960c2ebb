-- When tables were truncated, as far as the caller may read them.
create or replace view rowrelay.readable_truncation with (security_barrier) as
select h.*
  from rowrelay.truncation h
 where h.capture = any ((select rowrelay.readable_captures())::integer[]);
comment on view rowrelay.readable_truncation is 'rows of rowrelay.truncation of tables that one may read';
