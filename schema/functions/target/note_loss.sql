-- Purpose:    notes that a target may differ from the tables, for status and doctor: it has lost what it had, or may
--             have what the source has lost. It stays until changes are replayed, or a person has repaired it and
--             resumes it while it runs. Of tables without a key, which no comparison repairs, gaps are noted as well:
--             each stays until the table has been copied or found equal, see view rowrelay.gaps. The latest receipts,
--             by which a process may have found it, no longer say so: it is noted once.
-- Parameters: target or document; what happened; what helps (null: to compare)
create or replace function rowrelay.note_loss(target_id integer, what text, helps text default null) returns void
language sql security definer set search_path = pg_catalog, pg_temp as $$
  update rowrelay.target t
     set may_differ = format('at %s %s -- %s', to_char(now(), 'YYYY-MM-DD HH24:MI:SS'), what,
                             coalesce(case when not d.is_document then helps end,
                                      format('%s; then: rowrelay target resume %s',
                                             case when d.is_document then rowrelay.gap_commands(null, true, t)
                                                  when rowrelay.is_mirror(t)
                                                    then format('rowrelay verify %s --repair',
                                                                rowrelay.shell_word(t.name))
                                                  else 'compare it with the tables' end,
                                             rowrelay.shell_word(t.name))))
    from (select exists (select from rowrelay.document o where o.target = target_id) as is_document) as d
   where t.id = target_id;
  update rowrelay.receipt r set lanes = null
    from (select l.token, l.part from rowrelay.receipt l where l.target = target_id
           order by l.settled_at desc limit 100) as latest
   where r.token = latest.token and r.part = latest.part and r.lanes is not null;
  select rowrelay.note_gap(r.capture, array[t.id])
    from rowrelay.target t
    join rowrelay.route r on r.target = t.id and r.until_id is null
    join rowrelay.capture c on c.id = r.capture and c.released_at is null and c.key_columns = '{}'
   where t.id = target_id and rowrelay.is_mirror(t);
$$;
