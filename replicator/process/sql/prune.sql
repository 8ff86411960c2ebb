-- Drops one day that is past its retention; gives what is worth telling, and whether to call it again.
-- Gives prune: day, outcome, note, is_news, again
select p.day, p.outcome, p.note, p.is_news, p.outcome in ('more', 'deleting') as again
  from rowrelay.prune_what_is_due() as p;
