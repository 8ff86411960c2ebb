-- Runs first after the lock, in the same transaction: creates a table to record versions in.
do $$
begin
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
