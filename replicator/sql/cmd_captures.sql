-- The captured tables, for people.
select c.relation as "table", array_to_string(c.key, ', ') as key, array_to_string(c.targets, ', ') as targets, c.note
  from rowrelay.captures c
 order by c.relation::text;
