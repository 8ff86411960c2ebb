-- The least of the roles that "rowrelay init --roles" makes which may do what statement $1 does, by what it names in
-- schema rowrelay. No row: the roles are not there.
-- Gives least_role: name
select r.rolname as name
  from unnest('{rowrelay_reader,rowrelay_worker,rowrelay_admin}'::text[]) with ordinality as w(name, place)
  join pg_roles r on r.rolname = w.name
 where not exists (select from regexp_matches($1::text, 'rowrelay[.]([a-z_]+)', 'g') as m(parts)
                     join pg_class c on c.relname = m.parts[1] and c.relkind in ('r', 'p', 'v')
                                        and c.relnamespace = 'rowrelay'::regnamespace
                    where not has_table_privilege(r.oid, c.oid, 'select'))
   and not exists (select from regexp_matches($1::text, 'rowrelay[.]([a-z_]+) *[(]', 'g') as m(parts)
                     join pg_proc p on p.proname = m.parts[1] and p.pronamespace = 'rowrelay'::regnamespace
                    where not has_function_privilege(r.oid, p.oid, 'execute'))
 order by w.place
 limit 1;
