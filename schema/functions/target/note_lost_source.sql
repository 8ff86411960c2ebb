-- Purpose:    notes that the targets may have what this source has lost, because a standby took over that may have
--             lagged, for status and doctor. Nobody can know what it was, so it stays until a person has compared and
--             resumes the target, as where a target's server has lost what it had; what is noted already stays.
create or replace function rowrelay.note_lost_source() returns void
language sql as $$
  update rowrelay.target t
     set reason = format('at %s the source failed over, and may have lost changes that the target has -- %s; then: '
                         'rowrelay target resume %s', to_char(now(), 'YYYY-MM-DD HH24:MI:SS'),
                         case when rowrelay.is_mirror(t)
                              then format('rowrelay verify %s --repair', rowrelay.shell_word(t.name))
                              else 'compare it with the tables' end, rowrelay.shell_word(t.name))
   where t.state = 'running' and t.reason is null and t.dropped_at is null
     and not exists (select from rowrelay.document d where d.target = t.id);
$$;
