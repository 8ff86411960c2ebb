-- Before anything is changed, refuses an uninstall or upgrade by a user who may not drop the schema: an admin could
-- release tables, and then fail, with their changes no longer captured. Does nothing where there is no schema.
do $$
declare
  owner pg_catalog.name := (select r.rolname from pg_catalog.pg_namespace n
                            join pg_catalog.pg_roles r on r.oid = n.nspowner
                             where n.nspname = 'rowrelay');
begin
  if not pg_catalog.pg_has_role(owner, 'usage') then
    raise exception 'schema rowrelay belongs to role %, and % may not change it', owner, current_user
      using errcode = 'insufficient_privilege', detail = 'Nothing was changed.',
            hint = pg_catalog.format('Run it as role %I or as one of its members.', owner);
  end if;
end
$$;
