-- The statement that deletes from the target what a truncated partition of the source held.
--   $1 table  $2 the change's row: {"where": condition}
select format('delete from %s where %s', to_regclass($1), $2::json ->> 'where');
