-- Purpose:    tells people how to bring to a target what it lacks of a table: by comparing, where the target can be
--             compared with the table, else by sending all rows again, which does not bring deletes
-- Parameters: relation; has_key: whether its rows have a key, without which a mirror can only be copied as a whole;
--             target that the table goes to, or document that is built from it
-- Result:     a command, or what comes before it
create or replace function rowrelay.gap_commands(relation regclass, has_key boolean, target rowrelay.target)
  returns text
language sql stable set search_path = pg_catalog, pg_temp as $$
  select case when d.target is not null and rowrelay.is_mirror(p)
                then rowrelay.command('rowrelay verify %1$s --document %2$s --repair',
                                      'in a shell, rowrelay verify %3$s --document %4$s --repair', p.name, target.name,
                                      rowrelay.shell_word(p.name), rowrelay.shell_word(target.name))
              when d.target is not null
                then rowrelay.command('rowrelay document rebuild %s', 'select rowrelay.rebuild(%L);', target.name)
              when has_key and rowrelay.is_mirror(gap_commands.target)
                then rowrelay.verify_commands(relation, true, target.name)
              else concat(case when rowrelay.is_mirror(gap_commands.target)
                               then format('empty its table at %s, and then: ', target.name) end,
                          rowrelay.command('rowrelay backfill %s --to %s', 'select rowrelay.backfill(%L, %L);',
                                           rowrelay.full_name(relation), target.name)) end
    from (values (target.id)) as t(id)
    left join rowrelay.document d on d.target = t.id
    left join rowrelay.target p on p.id = d.delivers_to
$$;
