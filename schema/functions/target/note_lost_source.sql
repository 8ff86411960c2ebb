-- Purpose:    notes that the targets may have what this source has lost, because a standby took over that may have
--             lagged, or a dump was restored, for status and doctor. Nobody can know what it was, so it stays until a
--             person has compared and resumes the target, as where a target's server has lost what it had; what is
--             noted already stays. What is delivered into this database itself was lost with it.
-- Parameters: what happened to the source
create or replace function rowrelay.note_lost_source(happened text) returns void
language sql as $$
  update rowrelay.target t
     set may_differ = format('at %s the source %s, and may have lost changes that the target has -- %s; then: '
                             'rowrelay target resume %s', to_char(now(), 'YYYY-MM-DD HH24:MI:SS'), happened,
                             case when rowrelay.is_mirror(t)
                                  then format('rowrelay verify %s --repair', rowrelay.shell_word(t.name))
                                  else 'compare it with the tables' end, rowrelay.shell_word(t.name))
   where t.may_differ is null and t.dropped_at is null and t.url !~ '^postgres(ql)?:$'
     and not exists (select from rowrelay.document d where d.target = t.id);
$$;
