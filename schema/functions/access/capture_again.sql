-- Purpose:    tells people how to capture the table that has taken the place of a captured one, as this was captured.
--             The restore of a single table leaves it so, or who drops a table and creates it again.
-- Parameters: capture
-- Result:     commands; null: its table is there, no other one has its name, or that one is captured
create or replace function rowrelay.capture_again(capture rowrelay.capture) returns text
language sql stable as $$
  select concat(
           rowrelay.command(replace(concat('rowrelay capture ', rowrelay.shell_word(capture.relation_name), o.in_shell),
                                    '%', '%%'),
                            replace(format('select rowrelay.capture_table(%L%s)', capture.relation_name, o.in_sql),
                                    '%', '%%')),
           (select string_agg('; ' || rowrelay.command('rowrelay route %s %s --into %s'
                                                         || case when g.create_table then ' --create' else '' end,
                                                       'select rowrelay.route(%L, %L, %L, ' || g.create_table || ')',
                                                       capture.relation_name, t.name, g.into_table), '' order by t.name)
              from rowrelay.route g
              join rowrelay.target t on t.id = g.target and t.dropped_at is null
             where g.capture = capture.id and g.until_id is null),
           -- what each of them, and each document that is built from the table, lacks then
           (select string_agg('; ' || rtrim(rowrelay.gap_commands(r.oid, capture.key_columns <> '{}', t), ';'), ''
                              order by t.name)
              from rowrelay.target t
             where t.dropped_at is null
               and (exists (select from rowrelay.route g
                             where g.capture = capture.id and g.target = t.id and g.until_id is null)
                    or exists (select from rowrelay.document_source s
                                where s.capture = capture.id and s.document = t.id))))
    from pg_namespace n
    join pg_class r on r.relnamespace = n.oid and r.relkind in ('r', 'p')
   cross join lateral rowrelay.capture_options(capture) as o
   where n.nspname = (parse_ident(capture.relation_name))[1]
     and r.relname = (parse_ident(capture.relation_name))[2]
     and not exists (select from pg_class p where p.oid = capture.relation)
     and not exists (select from rowrelay.capture c where c.relation = r.oid and c.released_at is null)
$$;
