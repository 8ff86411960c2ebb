-- Before anything is made in a database, at the source or at a target, rejects one with a publication FOR ALL TABLES:
-- new tables would be published at once, and a subscriber that lacks one stops replicating every table. The setting
-- rowrelay.publish_anyway = on accepts it, for good where schema rowrelay is installed with it.
do $$
declare
  at_target constant bool := coalesce(pg_catalog.current_setting('rowrelay.at_target', true), '') = 'on';
  version   constant int4 := pg_catalog.current_setting('server_version_num')::int4;
  database  constant name := pg_catalog.current_database();
  published record;
  readers   text;
  contents  text;
  accepted  bool := coalesce(pg_catalog.current_setting('rowrelay.publish_anyway', true), '') = 'on';
begin
  select p.oid, p.pubname, p.pubname || '_of_ours' as replacement,
         pg_catalog.concat_ws(', ', case when p.pubinsert then 'insert' end, case when p.pubupdate then 'update' end,
                              case when p.pubdelete then 'delete' end, case when p.pubtruncate then 'truncate' end)
           as operations, p.pubviaroot,
         case pg_catalog.jsonb_extract_path_text(pg_catalog.to_jsonb(p), 'pubgencols') -- PostgreSQL 18
              when 's' then ', publish_generated_columns = stored' end as generated,
         exists (select from pg_catalog.pg_publication_rel r where r.prpubid = p.oid) as has_exceptions -- PostgreSQL 19
    into published
    from pg_catalog.pg_publication p where p.puballtables order by p.pubname limit 1;
  -- not by to_regclass(), which fails for a role without rights in the schema
  if exists (select from pg_catalog.pg_attribute a
               join pg_catalog.pg_class c on c.oid = a.attrelid
               join pg_catalog.pg_namespace n on n.oid = c.relnamespace
              where n.nspname = 'rowrelay' and c.relname = 'source' and a.attname = 'publish_anyway'
                and pg_catalog.has_schema_privilege(n.oid, 'usage')
                and pg_catalog.has_table_privilege(c.oid, 'select')) then
    execute 'select $1 or s.publish_anyway from rowrelay.source s' into accepted using accepted;
  end if;
  if published.pubname is null or accepted then
    return;
  end if;
  select pg_catalog.string_agg(
           pg_catalog.format('%I (%s)', s.slot_name,
                             case when s.active then pg_catalog.concat_ws(' ', 'read by', r.application_name, 'from',
                                                                          coalesce(r.client_addr::text, 'this machine'))
                                  else 'no subscriber is connected' end), ', ' order by s.slot_name) into readers
    from pg_catalog.pg_replication_slots s left join pg_catalog.pg_stat_replication r on r.pid = s.active_pid
   where s.database = pg_catalog.current_database() and s.plugin = 'pgoutput';
  -- A schema that is published would publish a new mirror in it.
  select case when version >= 150000 and not at_target and not published.has_exceptions
              then 'tables in schema ' || pg_catalog.string_agg(distinct pg_catalog.format('%I', n.nspname), ', ')
              else 'table ' || pg_catalog.string_agg(pg_catalog.format('%I.%I', n.nspname, c.relname), ', '
                                                     order by n.nspname, c.relname) end into contents
    from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace
   where c.relkind in ('r', 'p') and not c.relispartition and c.relpersistence = 'p'
     and not exists (select from pg_catalog.pg_publication_rel r where r.prpubid = published.oid and r.prrelid = c.oid)
     and n.nspname !~ '^pg_' and n.nspname not in ('information_schema', 'rowrelay', 'rowrelay_target');
  raise exception 'publication % of database % is FOR ALL TABLES: a subscriber without rowrelay''s new tables stops',
                  pg_catalog.quote_ident(published.pubname), pg_catalog.quote_ident(database)
    using errcode = 'object_not_in_prerequisite_state',
          detail = 'Nothing was made. Slots: ' || coalesce(readers, 'none') || '.',
          hint = pg_catalog.format('Replace the publication, then try again. '
              '1. here: create publication %I for %s with (publish = %L, publish_via_partition_root = %s%s); '
              '2. here: select pg_current_wal_lsn(); and wait until confirmed_flush_lsn of each slot has passed it; '
              '3. at each subscriber: alter subscription NAME set publication %I; '
              '4. here: drop publication %I. '
              'If no subscriber minds new tables: %s', published.replacement,
              case when pg_catalog.length(contents) < 500 then contents else 'table (a list of your tables)' end,
              published.operations, published.pubviaroot::text, published.generated, published.replacement,
              published.pubname,
              case when at_target then pg_catalog.format('alter database %I set rowrelay.publish_anyway = on', database)
                   when pg_catalog.current_setting('rowrelay.shell', true) = 'on' then 'rowrelay init --publish-anyway'
                   else 'PGOPTIONS=''-c rowrelay.publish_anyway=on'' psql -f schema/install.sql' end);
end
$$;
