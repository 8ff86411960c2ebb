-- Makes the roles of rowrelay:  psql -f schema/roles.sql, then schema/install.sql, which gives them their rights
-- `rowrelay init --roles` does both. They are the whole server's, so that this is one time for all of its databases; who may
-- not create roles is told what somebody has to run who may.
do $$
declare
  role_name text;
  missing   text[] := array(select n from unnest('{rowrelay_admin,rowrelay_worker,rowrelay_reader}'::text[]) as n
                             where not exists (select from pg_catalog.pg_roles r where r.rolname = n));
begin
  foreach role_name in array missing loop
    begin
      execute format('create role %I nologin', role_name);
      -- uninstall drops those that say so, and no others
      execute format('comment on role %I is %L', role_name, 'made by rowrelay');
    exception
      when duplicate_object or unique_violation then
        null; -- by somebody else, at this moment
      when insufficient_privilege then
        raise exception 'role % is missing, and % may not create roles', role_name, current_user
          using errcode = 'insufficient_privilege',
                hint = format('Somebody who may has to run: %s. Then try again.',
                              (select string_agg(format('create role %I', n), '; ') from unnest(missing) as n));
    end;
  end loop;
end
$$;
