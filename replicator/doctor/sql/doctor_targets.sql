-- The targets to be reached, without documents, which go to one of them.
-- Gives doctor_target: name
select t.name as name from rowrelay.targets t order by t.name;
