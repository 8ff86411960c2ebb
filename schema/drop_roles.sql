-- Drops the roles that rowrelay created, unless another database of the server still uses them. Part of uninstalling.
do $$
declare
  role_name text;
begin
  for role_name in
    select r.rolname from pg_catalog.pg_roles r
     where r.rolname in ('rowrelay_admin', 'rowrelay_worker', 'rowrelay_reader')
       and pg_catalog.shobj_description(r.oid, 'pg_authid') = 'made by rowrelay'
  loop
    begin
      execute format('drop role %I', role_name);
    exception
      when dependent_objects_still_exist or undefined_object then
        null;
      when insufficient_privilege then
        raise warning 'role % was not dropped: % may not drop it', role_name, current_user
          using hint = format('Ask an administrator to run: drop role %I', role_name);
    end;
  end loop;
end
$$;
