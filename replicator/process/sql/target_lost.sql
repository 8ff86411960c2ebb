-- Notes for status that target $1 may differ from the tables: $2 why, $3 what helps (null: to compare). It stays until
-- changes are replayed, or a person has repaired it and resumes it while it runs.
update rowrelay.target t
   set may_differ = format('at %s %s -- %s', to_char(now(), 'YYYY-MM-DD HH24:MI:SS'), $2::text,
                           coalesce(case when not d.is_document then $3::text end,
                                    format('%s; then: rowrelay target resume %s',
                                           case when d.is_document then rowrelay.gap_commands(null, true, t)
                                                when rowrelay.is_mirror(t)
                                                then format('rowrelay verify %s --repair', rowrelay.shell_word(t.name))
                                                else 'compare it with the tables' end,
                                           rowrelay.shell_word(t.name))))
  from (select exists (select from rowrelay.document o where o.target = $1::integer) as is_document) as d
 where t.id = $1::integer;
