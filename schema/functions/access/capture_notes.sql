-- Purpose:    lists what happened to captured tables and needs attention. One query for all, because status is read
--             often and there may be thousands of tables.
-- Result:     capture; note. No row for a capture without a problem.
create or replace function rowrelay.capture_notes() returns table (capture integer, note text)
-- resets the planner settings of processes, which suit only the queue
language plpgsql stable set plan_cache_mode = auto set enable_seqscan = on set enable_bitmapscan = on
  set enable_hashjoin = on
set enable_mergejoin = on set jit = off as $$
begin
  return query
    select n.capture, n.note
      from (select c.id as capture,
                   case
                     when p.note is not null then p.note
                     when r.oid is null then 'the table is gone: release it'
                     when l.for_rows and l.turns then
                       'maintenance will replace its triggers, which miss nothing until then: it is to be captured '
                         || case when rowrelay.is_by_statement(c) then 'by statement' else 'by row' end
                     when l.for_rows then
                       'triggers are missing or disabled: capture the table again'
                     when l.for_truncates then
                       'a partition has no truncate trigger yet'
                     when cardinality(l.left_over) > 0 then
                       'maintenance will drop its triggers from tables that no longer belong to it: '
                         || array_to_string(l.left_over, ', ')
                     when exists (select from unnest(c.key_columns) as k(number)
                                   where not exists (select from pg_attribute a
                                                      where a.attrelid = c.relation and a.attnum = k.number
                                                        and not a.attisdropped)) then
                       'a key column was dropped: capture the table again'
                     when 0 = any (c.exclude_columns) then
                       'the database was restored, and one of these columns may be what was left out or masked under '
                         'another name, so they are left out: '
                         || (select string_agg(quote_ident(a.attname), ', ' order by a.attnum) from pg_attribute a
                              where a.attrelid = c.relation and a.attnum = any (c.exclude_columns)
                                and not a.attisdropped)
                         || ': capture the table again with --exclude'
                     when cardinality(c.key_columns) > 0 and not rowrelay.key_is_unique(c)
                          and rowrelay.key_guard(c.relation, c.key_columns) not in ('table', 'parts') then
                       'its key is no longer unique: rows with the same key are one row in a target'
                     when o.obstacle is not null and rowrelay.is_native(c.id) then
                       o.obstacle || '; maintenance replaces its trigger function'
                     when c.column_state is distinct from s.state then
                       'the table was altered: capture is slower until maintenance replaces its trigger function'
                     when r.relhassubclass then
                       rowrelay.foreign_parts(c.relation)
                   end as note
              from rowrelay.capture m
             cross join lateral rowrelay.renumbered(m) as c
              left join pg_class r on r.oid = c.relation
              left join pg_namespace s_n on s_n.oid = r.relnamespace
             cross join lateral ( -- of the few that are gone, or have another name, where there is a table with theirs
               select case when r.oid is null
                                or format('%I.%I', coalesce(s_n.nspname, ''), r.relname) <> c.chosen_name
                                   and exists (select from pg_class q join pg_namespace q_n on q_n.oid = q.relnamespace
                                                where q_n.nspname = (parse_ident(c.chosen_name))[1]
                                                  and q.relname = (parse_ident(c.chosen_name))[2])
                                or exists (select from rowrelay.document_source d
                                            where d.capture = c.id and d.relation_name <> c.chosen_name)
                           then rowrelay.successor_note(c) end as note
               offset 0) as p -- not once more for each mention
              left join rowrelay.lacking_triggers() as l on l.capture = c.id
              left join rowrelay.column_states(array(select k.id from rowrelay.capture k
                                                     where k.released_at is null)) as s
                     on s.capture = c.id
              left join rowrelay.native_obstacle() as o on true
             where c.released_at is null) as n
     where n.note is not null;
end
$$;
