-- Purpose:    tells people how to capture the table that has taken the place of a captured one, as this was captured.
--             The restore of a single table leaves it so, or who drops a table and creates it again, or swaps two.
-- Parameters: capture
-- Result:     commands; null: no table has taken its place, see rowrelay.successor()
create or replace function rowrelay.capture_again(capture rowrelay.capture) returns text
language plpgsql stable as $$ -- rather than SQL, because its plan is kept
begin
  return (
    select array_to_string(
             case when s.for_documents then array[c.capture_it]
                  when rowrelay.full_name(capture.relation) is null then array[c.capture_it, c.route_it]
                  -- two captures cannot have rows in common
                  when rowrelay.is_heir(capture.relation, s.relation) then array[c.release, c.capture_it, c.route_it]
                  else array[c.capture_it, c.release, c.route_it] end || c.repair, '; ')
      from rowrelay.successor(capture) as s
     cross join lateral (select rowrelay.full_name(s.relation) as name) as n
     cross join lateral rowrelay.capture_options(capture) as o
     cross join lateral (
        select rowrelay.command(replace(concat('rowrelay capture ', rowrelay.shell_word(n.name),
                                               case when not s.is_captured then o.in_shell end), '%', '%%'),
                                replace(format('select rowrelay.capture_table(%L%s)', n.name,
                                               case when not s.is_captured then o.in_sql end), '%', '%%'))
                 as capture_it,
               rowrelay.command('rowrelay release %s', 'select rowrelay.release_table(%L)',
                                rowrelay.full_name(capture.relation)) as release,
               (select string_agg(rowrelay.command('rowrelay route %s %s --into %s'
                                                     || case when g.create_table then ' --create' else '' end,
                                                   'select rowrelay.route(%L, %L, %L, ' || g.create_table || ')',
                                                   n.name, t.name, g.into_table), '; ' order by t.name)
                  from rowrelay.route g
                  join rowrelay.target t on t.id = g.target and t.dropped_at is null
                 where g.capture = capture.id and g.until_id is null) as route_it,
               -- what each of them, and each document that is built from the table, lacks then
               (select string_agg(rtrim(rowrelay.gap_commands(s.relation, capture.key_columns <> '{}', t), ';'), '; '
                                  order by t.name)
                  from rowrelay.target t
                 where t.dropped_at is null
                   and (not s.for_documents
                        and exists (select from rowrelay.route g
                                     where g.capture = capture.id and g.target = t.id and g.until_id is null)
                        or exists (select from rowrelay.document_source d
                                    where d.capture = capture.id and d.document = t.id
                                      and (d.relation_name = n.name
                                           or rowrelay.full_name(capture.relation) is null)))) as repair) as c
     where s.relation is not null);
end
$$;
