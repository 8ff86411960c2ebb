-- Notes that a mirror differs: rows without a key that were to be changed or deleted there were not found.
--   $1 target  $2 captures
select rowrelay.note_unfound($1::integer, $2::integer[]);
