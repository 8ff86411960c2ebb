-- Refuses to uninstall for who may not drop the schema, before anything is changed: once tables are released their
-- changes are captured no more, and an admin may do that much.
do $$
declare
  owner pg_catalog.name := (select r.rolname from pg_catalog.pg_namespace n join pg_catalog.pg_roles r on r.oid = n.nspowner
                             where n.nspname = 'rowrelay');
begin
  if not pg_catalog.pg_has_role(owner, 'usage') then
    raise exception 'schema rowrelay belongs to role %, and % may not remove it', owner, current_user
      using errcode = 'insufficient_privilege', detail = 'Nothing was changed.',
            hint = pg_catalog.format('Uninstall as %I, or as a member of it.', owner);
  end if;
end
$$;
