-- The targets to be reached, without documents, which go to one of them; and of a failing one, why.
-- Gives doctor_target: name, note
select t.name as name,
       (select s.note from rowrelay.status s where s.target = t.name and t.state = 'failing') as note
  from rowrelay.targets t order by t.name;
