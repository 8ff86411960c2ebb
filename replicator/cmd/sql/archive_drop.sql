-- Drops day $1, which was archived.
select p.outcome, p.note
  from rowrelay.day d
  cross join lateral rowrelay.prune_day(d.day, false) as p
 where d.day = $1::date;
