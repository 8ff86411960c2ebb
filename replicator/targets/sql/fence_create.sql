-- The statements that make the table in which a target records, for each lane of each source, who delivered last: see
-- replicator/targets/fence.h. An empty text: it is there.
-- What another role has made is not adopted: its triggers would run with the rights of who delivers. A member of the
-- owner may use it, unless it is a superuser, who is one of everybody.
select case when exists (
  select from pg_namespace n
    join pg_roles u on u.rolname = current_user
    left join pg_class c on c.relnamespace = n.oid and c.relkind = 'r'
   where n.nspname = 'rowrelay_target'
     and exists (select from pg_roles r
                  where r.oid in (n.nspowner, c.relowner) and r.oid <> u.oid
                    and case when u.rolsuper then not r.rolsuper else not pg_has_role(r.oid, 'usage') end))
then
  format('do %L', 'begin raise exception ''schema rowrelay_target, or a table in it, is another role''''s'' '
                  'using errcode = ''insufficient_privilege''; end')
when to_regclass('rowrelay_target.fence') is null then
  concat(
    case when to_regnamespace('rowrelay_target') is null then 'create schema rowrelay_target; ' end,
    'create table rowrelay_target.fence (
      source  uuid not null,
      lane    integer not null,
      token   bigint not null,
      applied bigint[] not null default ''{}'',
      rows    bigint[] not null default ''{}'',
      primary key (source, lane)
    ) with (fillfactor = 50);
    comment on table rowrelay_target.fence is
      ''for each lane of a source that rowrelay delivers from: its last delivery'';
    comment on column rowrelay_target.fence.token is ''number of the claim; an older one may not write any more'';
    comment on column rowrelay_target.fence.applied is ''changes that were applied, and may come again'';
    comment on column rowrelay_target.fence.rows is ''for each of them: a hash of its row''''s key; null: any row''')
  else '' end;
