-- Targets that lack changes, because nothing captured a table for a while, or values of older rows in a column that was
-- added, which nobody knows any more, or whose rows without a key were not found when they were to be changed; and what
-- repairs them.
create or replace view rowrelay.gaps as
select c.relation,
       c.relation_name,
       t.name as target,
       g.noted_at,
       rowrelay.gap_commands(c.relation, c.key_columns <> '{}', t) as repair,
       g.unfound
  from rowrelay.gap g
  join rowrelay.capture c on c.id = g.capture and c.released_at is null
  join rowrelay.target t on t.id = g.target and t.dropped_at is null
 where exists (select from pg_class r where r.oid = c.relation)
   and (exists (select from rowrelay.route r where r.capture = c.id and r.target = t.id and r.until_id is null)
        or exists (select from rowrelay.document d where d.target = t.id));
comment on view rowrelay.gaps is 'targets that lack changes of a table, because until noted_at its triggers were '
                                 'dropped or disabled, a child or partition had none yet or was put back, it was '
                                 'another table or captured with other options, or it, having no '
                                 'key, is of a target or source that was restored; or because a column was altered, '
                                 'replaced or renamed, or added while the rows were written anew, and no change '
                                 'tells what older rows have in it; or (unfound) because rows without a key were not '
                                 'found there that were to be changed or deleted; a row goes when its target has been '
                                 'repaired';
