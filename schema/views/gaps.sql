-- Targets that lack changes, because triggers of a table were dropped or disabled for a while, and what repairs them.
create or replace view rowrelay.gaps as
select c.relation,
       c.relation_name,
       t.name as target,
       g.noted_at,
       case when d.target is not null and rowrelay.is_mirror(p)
              then rowrelay.command('rowrelay verify %1$s --document %2$s --repair',
                                    'in a shell, rowrelay verify %3$s --document %4$s --repair', p.name, t.name,
                                    rowrelay.shell_word(p.name), rowrelay.shell_word(t.name))
            when d.target is not null
              then rowrelay.command('rowrelay document rebuild %s', 'select rowrelay.rebuild(%L);', t.name)
            when rowrelay.is_mirror(t) then rowrelay.verify_commands(c.relation, true, t.name)
            else rowrelay.command('rowrelay backfill %s --to %s', 'select rowrelay.backfill(%L, %L);', c.relation_name,
                                  t.name) end as repair
  from rowrelay.gap g
  join rowrelay.capture c on c.id = g.capture and c.released_at is null
  join rowrelay.target t on t.id = g.target and t.dropped_at is null
  left join rowrelay.document d on d.target = t.id
  left join rowrelay.target p on p.id = d.delivers_to
 where exists (select from pg_class r where r.oid = c.relation);
comment on view rowrelay.gaps is 'targets that lack changes of a table, because its triggers were dropped or disabled '
                                 'until noted_at; a row goes when its target has been repaired';
