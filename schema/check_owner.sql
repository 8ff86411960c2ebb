-- Refuses to uninstall, and to upgrade, for who may not drop the schema, before anything is changed: an admin may release
-- tables, and their changes are captured no more then. Says nothing where there is no schema.
do $$
declare
  owner pg_catalog.name := (select r.rolname from pg_catalog.pg_namespace n join pg_catalog.pg_roles r on r.oid = n.nspowner
                             where n.nspname = 'rowrelay');
begin
  if not pg_catalog.pg_has_role(owner, 'usage') then
    raise exception 'schema rowrelay belongs to role %, and % may not change it', owner, current_user
      using errcode = 'insufficient_privilege', detail = 'Nothing was changed.',
            hint = pg_catalog.format('Do it as %I, or as a member of it.', owner);
  end if;
end
$$;
