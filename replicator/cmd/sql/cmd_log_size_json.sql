-- How large the log is and how long it is kept, for programs.
select json_build_object('first_day', l.first_day, 'days', l.days, 'bytes', coalesce(l.bytes, 0), 'keep', s.keep)
  from rowrelay.log_size() as l
  cross join rowrelay.source s;
