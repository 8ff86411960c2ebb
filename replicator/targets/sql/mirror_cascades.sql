-- Foreign keys of mirrors that change rows of the mirror by themselves when a row of the table they refer to changes;
-- and what ends this.
--   $1 names of mirrors, JSON array
-- Gives cascades: tables, meaning, command
select json_build_array(m.name) as tables,
       format('foreign key %I changes its rows by itself (%s): it takes newer rows away or alters them if an older '
              'delete or update of %s arrives after them', c.conname, a.actions, c.confrelid::regclass) as meaning,
       format('there: alter table %s drop constraint %I, add constraint %I %s%s', c.conrelid::regclass, c.conname,
              c.conname,
              regexp_replace(pg_get_constraintdef(c.oid),
                             ' ON (DELETE|UPDATE) (CASCADE|SET (NULL|DEFAULT)( \([^)]*\))?)', '', 'g'),
              case when not c.condeferrable then ' DEFERRABLE INITIALLY DEFERRED' end) as command
  from (select distinct n.name from json_array_elements_text($1::json) as n(name)) as m
  join pg_constraint c on c.conrelid = to_regclass(m.name)
 cross join lateral (
   select string_agg(format('ON %s %s', w.event,
                            case w.action when 'c' then 'CASCADE' when 'n' then 'SET NULL' else 'SET DEFAULT' end),
                     ' ') as actions
     from (values ('DELETE', c.confdeltype), ('UPDATE', c.confupdtype)) as w(event, action)
    where w.action in ('c', 'n', 'd')) as a
 where c.contype = 'f' and a.actions is not null and to_jsonb(c) ->> 'conenforced' is distinct from 'false'
 order by m.name, c.conname;
