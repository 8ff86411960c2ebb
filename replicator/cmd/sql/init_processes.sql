-- The running processes, for people; null: none.
select string_agg(format('process %s on %s', i.pid, i.host), ', ' order by i.host, i.pid)
  from rowrelay.instances i where i.state = 'running';
