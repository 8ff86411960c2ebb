-- Targets, to complete what somebody types.
--   $1 what they begin with
select t.name from rowrelay.targets t
 where starts_with(t.name, $1::text) and t.name !~ '[[:cntrl:]]'
 order by t.name limit 500;
