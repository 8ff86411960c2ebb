-- The statement that copies the rows of backfill $1 out of the source, with the columns $2 (JSON array of names), and
-- one that keeps the table from being altered meanwhile.
select rowrelay.copy_statement(c, array(select json_array_elements_text($2::json)), b.condition),
       format('lock table %s in access share mode', rowrelay.full_name(c.relation))
  from rowrelay.backfill b
  join rowrelay.capture c on c.id = b.capture
 where b.id = $1::integer;
