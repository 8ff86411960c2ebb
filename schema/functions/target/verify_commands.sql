-- Purpose:    tells people how to compare a table with its mirrors. There is no function for that, so in SQL it is the
--             same command.
-- Parameters: relation, null: all tables; whether to repair them; target (default: each mirror that the table goes to)
-- Result:     a command for each of them; of a target called TARGET when there is none
create or replace function rowrelay.verify_commands(relation regclass, repair boolean, target text default null)
  returns text
language sql stable set search_path = pg_catalog, pg_temp as $$
  select string_agg(rowrelay.command('rowrelay verify %1$s' || w.words, 'in a shell, rowrelay verify %2$s' || w.words,
                                     n.name, rowrelay.shell_word(n.name)), '; ' order by n.place)
    from unnest(coalesce(nullif(case when target is not null then array[target]
           else array(select t.name
                        from rowrelay.capture c
                        join rowrelay.route r on r.capture = c.id and r.until_id is null
                        join rowrelay.target t on t.id = r.target
                       where c.relation = verify_commands.relation and c.released_at is null
                         and t.dropped_at is null and t.url ~ '^postgres(ql)?:'
                         and coalesce(t.options ->> 'mode', 'mirror') = 'mirror'
                         and not exists (select from rowrelay.document d where d.target = t.id)
                       order by t.name) end, '{}'), '{TARGET}')) with ordinality as n(name, place),
         (select coalesce(' ' || replace(rowrelay.shell_word(rowrelay.full_name(relation)), '%', '%%'), '')
                   || case when repair then ' --repair' else '' end as words) as w
$$;
