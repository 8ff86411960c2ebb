-- All targets, for people.
select t.name, t.url, t.state, t.reason, t.lanes, nullif(t.options, '{}') as options
  from rowrelay.targets t
 order by t.name;
