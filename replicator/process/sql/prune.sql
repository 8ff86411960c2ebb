-- Drops what is old enough, one day at a time: what is worth telling, and whether to call it again.
select p.day, p.outcome, p.note, p.is_news, p.outcome in ('more', 'deleting') from rowrelay.prune_what_is_due() as p;
