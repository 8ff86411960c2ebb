-- Purpose:    tells why the server module rowrelay_native is not used though its language is in this database
-- Result:     obstacle, and what removes it; nulls if the module is used, is not in this database, or is switched off
--             (rowrelay.capture_natively)
create or replace function rowrelay.native_obstacle(out obstacle text, out remedy text)
language plpgsql stable as $$
declare
  owner    constant oid := (select n.nspowner from pg_namespace n where n.nspname = 'rowrelay');
  module   record;
  stranger oid;
begin
  select l.oid, l.lanvalidator, l.lanowner,
         (select e.extowner from pg_depend d join pg_extension e on e.oid = d.refobjid
           where d.classid = 'pg_language'::regclass and d.objid = l.oid and d.deptype = 'e'
             and d.refclassid = 'pg_extension'::regclass) as extension_owner
    into module
    from pg_language l
   where l.lanname = 'rowrelay' and exists (select from rowrelay.source s where s.native);
  if not found then
    return;
  end if;
  -- The extension is trusted, so whoever may create objects in the database may own it, and with it all that is made in
  -- its language: dropping it drops trigger functions, and the changes of tables without triggers are lost.
  select o.oid into stranger from unnest(array[module.lanowner, module.extension_owner]) as o(oid)
   where not pg_has_role(o.oid, owner, 'usage') limit 1;
  if stranger is not null then
    obstacle := format('the server module is not used, because role %s owns it and could remove trigger functions with '
                       'it', stranger::regrole);
    remedy := format('as role %s or as a superuser: drop extension rowrelay_native; create extension rowrelay_native;',
                     owner::regrole);
  elsif not has_language_privilege(owner, module.oid, 'usage') then
    obstacle := format('the server module is not used, because role %s, which owns schema rowrelay, may not use '
                       'language rowrelay', owner::regrole);
    remedy := format('grant usage on language rowrelay to %s;', owner::regrole);
  else
    -- fails where sessions that begin now cannot load the library
    begin
      execute format('select %s(0::oid)', module.lanvalidator::regproc);
    exception when others then
      obstacle := 'the server module cannot be loaded: ' || sqlerrm;
      remedy := 'install the module on this server, or: select * from rowrelay.capture_natively(false);';
    end;
  end if;
end
$$;
