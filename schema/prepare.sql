-- Runs first after the lock, in the same transaction: creates a table to record versions in. What is there already is
-- adopted only if it is this role's own: another role's triggers and functions would run with the rights of this one,
-- which may be a superuser, and later with those of each user of the schema.
do $$
declare
  owner pg_catalog.name;
  alien text;
begin
  select r.rolname into owner from pg_catalog.pg_namespace n join pg_catalog.pg_roles r on r.oid = n.nspowner
   where n.nspname = 'rowrelay';
  if owner <> current_user then
    raise exception 'schema rowrelay belongs to role %, not to %', owner, current_user
      using errcode = 'insufficient_privilege', detail = 'Nothing was changed.',
            hint = pg_catalog.format('If it is of rowrelay, run this with the rights of that role: '
                                     'PGOPTIONS=''-c role=%s'' before the command. Otherwise drop or rename it.',
                                     owner);
  end if;
  select pg_catalog.string_agg(o.identity, ', ' order by o.identity) into alien
    from (
      select i.type || ' ' || i.identity as identity
        from (select 'pg_catalog.pg_class'::pg_catalog.regclass as classid, c.oid, c.relowner as owner,
                     c.relnamespace as schema from pg_catalog.pg_class c where c.relkind not in ('i', 'I', 't')
              union all
              select 'pg_catalog.pg_proc'::pg_catalog.regclass, p.oid, p.proowner, p.pronamespace
                from pg_catalog.pg_proc p
              union all
              select 'pg_catalog.pg_operator'::pg_catalog.regclass, o.oid, o.oprowner, o.oprnamespace
                from pg_catalog.pg_operator o
              union all
              select 'pg_catalog.pg_type'::pg_catalog.regclass, t.oid, t.typowner, t.typnamespace
                from pg_catalog.pg_type t where t.typtype = 'd') as x
        join pg_catalog.pg_namespace n on n.oid = x.schema and n.nspname = 'rowrelay'
       cross join lateral pg_catalog.pg_identify_object(x.classid, x.oid, 0) as i
       where x.owner <> n.nspowner or pg_catalog.to_regclass('rowrelay.migration') is null
       limit 10) as o;
  if alien is not null then
    raise exception 'schema rowrelay has what is not of rowrelay: %', alien
      using errcode = 'duplicate_object', detail = 'Nothing was changed.', hint = 'Drop these, or rename the schema.';
  end if;
  -- "if not exists" would ask for the right to create schemas even where there is nothing to create.
  if pg_catalog.to_regnamespace('rowrelay') is null then
    begin
      create schema rowrelay;
    exception when insufficient_privilege then
      raise exception '%', sqlerrm using errcode = 'insufficient_privilege',
        hint = pg_catalog.format('Ask the owner of the database to run: grant create on database %I to %I',
                                 pg_catalog.current_database(), current_user);
    end;
    comment on schema rowrelay is 'rowrelay: captures changes of tables and relays them to targets';
  end if;
  if pg_catalog.to_regclass('rowrelay.migration') is not null then
    if pg_catalog.to_regclass('rowrelay.source') is not null and not exists (select from rowrelay.migration) then
      raise exception 'schema rowrelay exists without its contents (a schema-only restore?)'
        using errcode = 'object_not_in_prerequisite_state',
              hint = 'Remove it and its triggers, then install again: '
                     || case when pg_catalog.current_setting('rowrelay.shell', true) = 'on' then 'rowrelay uninstall'
                             else 'psql -f schema/uninstall.sql' end;
    end if;
  else
    create table rowrelay.migration (
      version    integer primary key,
      applied_at timestamptz not null default pg_catalog.now()
    );
    comment on table rowrelay.migration is 'the migrations that have been applied to schema rowrelay';
    comment on column rowrelay.migration.version is 'number of the file in schema/migrations';
    comment on column rowrelay.migration.applied_at is 'when';
  end if;
end
$$;
