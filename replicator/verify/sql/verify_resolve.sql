-- The full name of a table of the target, as its user's search_path finds it; null when there is none.
--   $1 name
select format('%I.%I', n.nspname, c.relname)
  from pg_class c join pg_namespace n on n.oid = c.relnamespace
 where c.oid = to_regclass($1);
