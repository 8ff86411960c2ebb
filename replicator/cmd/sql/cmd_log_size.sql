-- How large the log is and how long it is kept, as a line for people.
select format('The log has %s of %s day%s, %s.', pg_size_pretty(l.bytes), l.days,
              case when l.days <> 1 then 's' end,
              coalesce('kept for ' || s.keep, 'kept for ever'))
  from rowrelay.log_size() as l
  cross join rowrelay.source s;
