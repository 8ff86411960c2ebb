-- Grants rights; the last step of every installation. Only the schema's owner has rights here and, where they exist,
-- the roles of schema/roles.sql, if that was run in this session, or they have rights here already:
--
--   rowrelay_admin   may call every function and read every table. It writes only to the tables that a worker writes
--                    to; the functions write to the others with the rights of the schema's owner.
--   rowrelay_worker  may do what `rowrelay run` does, by the lists below.
--   rowrelay_reader  may use views that show people only what they may select anyway (rowrelay.may_read), and the
--                    functions that read those views.
--
-- An immutable or stable function that runs with its caller's rights grants nobody anything, so all three may call it.
-- Any other new function or view is the admin's alone until it is named here. Only differences are granted or revoked,
-- so that writers are not disturbed; rights granted to other roles stay, unless default privileges of the schema's
-- owner name that role: what these grant on each new object is not meant for the log.
do $grants$
declare
  wanted_functions constant jsonb := '{
    "rowrelay_reader": [
      "another_life", "changes_in_transaction", "changes_since", "check_undone", "day_bounds", "delivery_of",
      "durable_snapshot", "is_same_key", "key_days_from_last", "last_change_id", "last_id_up_to", "logged_tables",
      "row_hashes",
      "search_range", "sees_log", "tell_not_undone", "timeline", "undo", "undo_apply", "undo_changes",
      "undo_obstacle", "undo_transaction"],
    "rowrelay_worker": [
      "another_life", "backfill_holder", "backfill_step", "change_age", "copy_abandon", "copy_finish", "copy_hold",
      "copy_join", "copy_switch", "drop_empty_days", "expand_documents", "index_closed_days", "is_same_key",
      "is_undecided",
      "last_change_id", "maintain", "maintain_is_due", "maintain_when_due", "note_loss", "note_unfound", "pending_of",
      "prune_is_due", "prune_what_is_due", "queue_all_documents", "refuse_documents", "release_held", "retry", "rewind",
      "ring_doorbell", "row_hashes", "seal_is_due", "seal_next", "skip_lost_ids", "tick", "writers"]}';
  -- table, view or sequence: privileges on all of it or on some columns
  wanted_tables constant jsonb := '{
    "rowrelay_reader": {
      "migration": ["select"],
      "source": ["select"],
      "capture": ["select"],
      "row_hashing": ["select"],
      "shape": ["select"],
      "tick": ["select"],
      "server_start": ["select"],
      "day": ["select"],
      "history": ["select"],
      "errors": ["select"],
      "readable_change": ["select"],
      "readable_key": ["select"],
      "readable_truncation": ["select"],
      "key_days": ["select"],
      "change_id": ["select"],
      "ids_skipped": ["select"],
      "prunings": ["select"]},
    "rowrelay_worker": {
      "migration": ["select"],
      "source": ["select"],
      "capture": ["select"],
      "shape": ["select"],
      "older_value": ["select"],
      "route": ["select"],
      "document": ["select"],
      "document_source": ["select"],
      "server_start": ["select"],
      "change": ["select"],
      "target": ["select", {"update": ["state", "reason", "version"]}],
      "backfill": ["select", {"update": ["state", "snapshot", "waits_for", "rows_read", "rows_queued", "note",
                   "retry_at"]}],
      "queue": ["select", "insert", "update", "delete"],
      "refusal": ["select", "insert", "update", "delete"],
      "hold": ["select", "insert", "update"],
      "lane": ["select", "update"],
      "lease": ["select", "insert", "update", "delete"],
      "receipt": ["select", "insert"],
      "floor": ["select", "insert", "update"],
      "trouble": ["select", "insert", "update", "delete"],
      "instance": ["select", "insert", "update", "delete"],
      "day": ["select"],
      "status": ["select"],
      "gaps": ["select"],
      "instances": ["select"],
      "change_id": ["select"],
      "ids_skipped": ["select"],
      "claim_token": ["usage"],
      "doorbell": ["select", "update"]}}';
  own_roles     constant text[] := '{rowrelay_admin,rowrelay_worker,rowrelay_reader}';
  name          text;
  statement     text;
begin
  for name in
    select f.name from jsonb_each(wanted_functions) as w, jsonb_array_elements_text(w.value) as f(name)
     where not exists (select from pg_proc p where p.pronamespace = 'rowrelay'::regnamespace and p.proname = f.name)
     union all
    select t.name from jsonb_each(wanted_tables) as w, jsonb_object_keys(w.value) as t(name)
     where to_regclass(format('rowrelay.%I', t.name)) is null
  loop
    raise exception 'schema/grants.sql grants rights on %, which does not exist', name;
  end loop;

  for statement in
    with role(name, grantee) as (
      select r.rolname::text, r.oid
        from pg_roles r
       where r.rolname = any (own_roles)
         -- Roles are the server's: those that another database has made are nothing here, unless they are asked for.
         and (current_setting('rowrelay.roles', true) = 'on'
              or exists (select from pg_namespace n, aclexplode(n.nspacl) as a
                          where n.nspname = 'rowrelay' and a.grantee = r.oid))
         and r.oid <> (select n.nspowner from pg_namespace n where n.nspname = 'rowrelay')
    ), denied(grantee) as (
      select 0::oid
       union
      select r.grantee from role r
       union
      select a.grantee
        from pg_default_acl d
        join pg_namespace n on n.nspname = 'rowrelay' and n.nspowner = d.defaclrole, aclexplode(d.defaclacl) as a
       where d.defaclnamespace = 0 and a.grantee <> d.defaclrole
    ), routine as (
      -- nobody may call trigger functions, nor those that capturing or copying a table creates
      select p.oid, p.proname::text as name, p.proacl, p.proowner, p.provolatile <> 'v'
        and not p.prosecdef as is_harmless,
             p.prorettype <> 'trigger'::regtype and p.proname !~ '^(copies|capture)_[0-9]' as is_callable
        from pg_proc p where p.pronamespace = 'rowrelay'::regnamespace
    ), wanted_routine as (
      select f.oid, r.grantee
        from routine f, role r
       where f.is_callable and (f.is_harmless or r.name = 'rowrelay_admin' or wanted_functions -> r.name ? f.name)
    ), present_routine as (
      select f.oid, a.grantee
        from routine f, aclexplode(coalesce(f.proacl, acldefault('f', f.proowner))) as a
       where a.grantee in (table denied)
         -- that is for the owner of a partitioned table, see rowrelay.trigger_grants()
         and not (a.grantee <> 0 and f.name ~ '^capture_[0-9]+$')
    ), relation as (
      -- partitions are read through their table
      select c.oid, c.relname::text as name, c.relkind, c.relacl, c.relispartition
        from pg_class c
       where c.relnamespace = 'rowrelay'::regnamespace and c.relkind in ('r', 'p', 'v', 'S')
    ), listed as (
      select c.oid, r.grantee, r.name as role, p.value as privilege
        from relation c, role r,
             jsonb_array_elements(wanted_tables -> case r.name when 'rowrelay_admin' then 'rowrelay_worker'
                                  else r.name end -> c.name) as p
    ), wanted_relation as (
      select l.oid, l.grantee, upper(l.privilege #>> '{}') as privilege, null::text as name
        from listed l where jsonb_typeof(l.privilege) = 'string'
       union
      select l.oid, l.grantee, upper(u.privilege), a.name
        from (select * from listed where jsonb_typeof(privilege) = 'object') as l,
          jsonb_each(l.privilege) as u(privilege, names),
             jsonb_array_elements_text(u.names) as a(name)
       union
      select c.oid, r.grantee, 'SELECT', null from relation c, role r
       where r.name = 'rowrelay_admin' and not c.relispartition
       union -- everybody's lastval(), see rowrelay.keep_lastval()
      select c.oid, 0, 'SELECT', null from relation c where c.name = 'lastval'
    ), present_relation as (
      select c.oid, a.grantee, a.privilege_type as privilege, null::text as name
        from relation c, aclexplode(c.relacl) as a where a.grantee in (table denied)
       union
      select c.oid, x.grantee, x.privilege_type, a.attname::text
        from relation c
        join pg_attribute a on a.attrelid = c.oid and a.attacl is not null,
             aclexplode(a.attacl) as x where x.grantee in (table denied)
    ), difference as (
      select 'revoke' as verb, 'execute on function ' || d.oid::regprocedure as what, d.grantee
        from (table present_routine except table wanted_routine) as d
       union all
      select 'grant', 'execute on function ' || d.oid::regprocedure, d.grantee
        from (table wanted_routine except table present_routine) as d
       union all
      select d.verb, concat(d.privilege, ' (' || quote_ident(d.name) || ')', ' on ',
                            case when c.relkind = 'S' then 'sequence ' end, d.oid::regclass),
             d.grantee
        from (select 'revoke' as verb, p.* from (table present_relation except table wanted_relation) as p
               union all
              select 'grant', w.* from (table wanted_relation except table present_relation) as w) as d
        join relation c on c.oid = d.oid
    )
    select format('revoke %s on schema rowrelay from %s', a.privilege_type, a.grantee::regrole)
      from pg_namespace n, aclexplode(n.nspacl) as a
     where n.nspname = 'rowrelay' and a.grantee in (table denied) and a.grantee <> 0
       and not (a.grantee in (select r.grantee from role r) and a.privilege_type = 'USAGE')
     union all
    select format('grant usage on schema rowrelay to %I', r.name)
      from role r
     where not has_schema_privilege(r.grantee, 'rowrelay', 'usage')
     union all
    select format('%s %s %s %s', d.verb, d.what, case d.verb when 'grant' then 'to' else 'from' end,
                  case d.grantee when 0 then 'public' else d.grantee::regrole::text end)
      from difference d
     order by 1
  loop
    execute statement;
  end loop;
end
$grants$;
