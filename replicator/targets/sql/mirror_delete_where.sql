-- The statement that deletes from the target what a truncated partition of the source held; null: a column that may be
-- in the condition takes texts for equal here that are not for the source.
--   $1 table  $2 the change's row: {"where": condition}
select format('delete from %s where %s', to_regclass($1), $2::json ->> 'where')
 where not exists (select from pg_attribute a
                     join pg_collation c on c.oid = a.attcollation
                    where a.attrelid = to_regclass($1) and not a.attisdropped and not c.collisdeterministic
                      and position(quote_ident(a.attname) in $2::json ->> 'where') > 0);
