-- The statement for a partition that was truncated at the source.
--   $1 table  $2 the change's row: {"where": condition}
select format('delete from %s where %s', to_regclass($1), $2::json ->> 'where');
