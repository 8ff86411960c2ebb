-- Purpose:    the identifier of this server and its standbys; null: a managed server may not tell
create or replace function rowrelay.system_identifier() returns text
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  return (select c.system_identifier::text from pg_control_system() as c);
exception when insufficient_privilege or feature_not_supported then
  return null;
end
$$;
