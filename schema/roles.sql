-- Creates rowrelay's roles:  psql -f schema/roles.sql -f schema/install.sql, of which the latter grants them their
-- rights in this database.
-- `rowrelay init --roles` does both. Roles belong to the whole server; rights are given by database. A user
-- who may not create roles is shown the statements that an administrator has to run.
set search_path = pg_catalog, pg_temp; -- whatever others have made in schema public
do $$
declare
  role_name text;
  missing   text[] := array(select u.n from unnest('{rowrelay_admin,rowrelay_worker,rowrelay_reader}'::text[])
                                             with ordinality as u(n, position)
                             where not exists (select from pg_catalog.pg_roles r where r.rolname = u.n)
                             order by u.position);
begin
  foreach role_name in array missing loop
    begin
      execute format('create role %I nologin', role_name);
      -- uninstall drops only the roles with this comment
      execute format('comment on role %I is %L', role_name, 'made by rowrelay');
    exception
      when duplicate_object or unique_violation then
        null; -- another session has just created it
      when insufficient_privilege then
        raise exception 'role % is missing, and % may not create roles', role_name, current_user
          using errcode = 'insufficient_privilege',
                hint = format('Ask an administrator to run: %s. Then try again.',
                              (select string_agg(format('create role %I', n), '; ') from unnest(missing) as n));
    end;
  end loop;
  perform pg_catalog.set_config('rowrelay.roles', 'on', false);
end
$$;
