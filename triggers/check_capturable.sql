-- Purpose:    refuses relations that have no changes of their own, that the schema's owner does not own, or whose parts
--             an extension manages
-- Parameters: relation
-- Errors:     say why not, and what to do
create or replace function rowrelay.check_capturable(relation regclass) returns void
language plpgsql stable as $$
declare
  kind   "char";
  schema name;
  owner  oid;
  temporary boolean;
  hypertables   regclass; -- TimescaleDB's list
  is_hypertable boolean := false;
begin
  select c.relkind, n.nspname, c.relowner, c.relpersistence = 't' into strict kind, schema, owner, temporary
    from pg_class c join pg_namespace n on n.oid = c.relnamespace where c.oid = relation;
  if kind not in ('r', 'p') then
    raise exception '% is not a table', relation using errcode = 'wrong_object_type',
      hint = case kind when 'v' then 'Capture the tables that the view reads.'
                       when 'm' then 'Capture the tables that the materialized view reads.'
                       when 'f' then 'Capture the table in its own database.'
                       else 'Only tables have rows that change.' end;
  end if;
  if temporary or schema in ('pg_catalog', 'information_schema', 'rowrelay', 'rowrelay_target')
    or schema like E'pg\\_toast%' then
    raise exception 'table % cannot be captured', relation using errcode = 'wrong_object_type',
      detail = case when temporary then 'It is temporary.' else format('It is in schema %s.', schema) end;
  end if;
  -- current_user is the schema's owner here: rowrelay.capture_table() is security definer
  if not pg_has_role(owner, 'usage') then
    raise exception 'role %, which owns schema rowrelay, does not own table %', current_user, relation
      using errcode = 'insufficient_privilege',
            hint = case when (select r.rolsuper from pg_roles r where r.oid = owner)
                        -- a member of a superuser is one
                        then format('The owner is a superuser: give the table to another role, such as: alter table '
                                    '%s owner to %I.', relation, current_user)
                        else format('Make it a member of the owner: grant %I to %I.', pg_get_userbyid(owner),
                                    current_user) end;
  end if;
  -- A superuser's plain table: reading it evaluates nothing that another role has made.
  select c.oid into hypertables
    from pg_class c join pg_namespace n on n.oid = c.relnamespace join pg_roles r on r.oid = c.relowner
   where n.nspname = '_timescaledb_catalog' and c.relname = 'hypertable' and c.relkind = 'r' and r.rolsuper
     and has_schema_privilege(n.oid, 'usage') and has_table_privilege(c.oid, 'select');
  if hypertables is not null then
    execute format('select exists (select from %s h join pg_class c on c.relname = h.table_name '
                     'join pg_namespace n on n.oid = c.relnamespace and n.nspname = h.schema_name where c.oid = $1)',
                   hypertables)
      into is_hypertable using relation;
  end if;
  if is_hypertable then
    raise exception 'table % is a hypertable of TimescaleDB, which cannot be captured', relation
      using errcode = 'feature_not_supported',
            detail = 'TimescaleDB makes, compresses and drops its chunks without firing triggers.',
            hint = case when exists (select from rowrelay.capture c
                                      where c.relation = check_capturable.relation and c.released_at is null)
                        then 'It was captured before it became one. Release it: '
                             || rowrelay.command('rowrelay release %s', 'select rowrelay.release_table(%L);',
                                                 relation::text)
                        else 'Leave it out, and capture the tables that are none.' end;
  end if;
  perform rowrelay.check_overlap(relation);
end
$$;
