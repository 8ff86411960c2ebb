-- What a pattern may have meant that matches no table: the same in other letters, without the quotes that a name needs,
-- or something that cannot be captured. Gives no row where nothing is like it.
--   $1 pattern
-- The name's kind is that of pg_class; is_exact: the pattern names just this, so it is not captured.
-- Gives near: name, kind, is_exact, wanted
with typed as (
  select lower(replace($1, '"', '')) as text
), wanted as (
  select replace(replace(regexp_replace(t.text, '([\\%_])', '\\\1', 'g'), '*', '%'), '?', '_') as pattern
    from typed t
), near as (
  select n.nspname, c.relname, c.relkind::text as kind, format('%I.%I', n.nspname, c.relname) as name,
         c.oid = rowrelay.table_named(quote_ident(c.relname)) as is_visible
    from pg_class c
    join pg_namespace n on n.oid = c.relnamespace
    cross join wanted w
   where c.relkind in ('r', 'p', 'v', 'm', 'f') and n.nspname !~ '^pg_' and n.nspname not in ('information_schema')
     and (lower(replace(n.nspname || '.' || c.relname, '"', '')) like w.pattern
          or position('.' in $1) = 0 and lower(replace(c.relname, '"', '')) like w.pattern)
)
select n.name, n.kind,
       coalesce(w.wanted = $1 or case when $1 ~ '"' then $1 else lower($1) end
                                 in (n.name, n.nspname || '.' || n.relname, case when n.is_visible then n.relname end),
                false) as is_exact,
       w.wanted
  from near n
 cross join lateral (
   select case when right($1, 2) = '.*' then format('%I.*', n.nspname) else n.name end as wanted) as w
 order by n.kind not in ('r', 'p'), n.name
 limit 1;
