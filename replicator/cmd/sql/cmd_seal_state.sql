-- How far the log is sealed: seals, changes, days, redactions, the head; whether sealing is on; how many finished days
-- are not sealed yet; how many sealed days were dropped.
-- Gives sealed: seals, changes, days, redactions, head, wanted, open, dropped
select coalesce(max(s.position), 0) as seals, coalesce(sum(s.changes), 0) as changes, count(distinct s.day) as days,
       count(s.redaction) as redactions, rowrelay.seal_head() as head,
       o.seals as wanted,
       (select count(*) from rowrelay.partition_days() p
         where p.day < (now() at time zone 'UTC')::date - 1
           and p.day > coalesce((select max(e.day) from rowrelay.seal e where e.ends_day), '-infinity')) as open,
       (select count(*) from rowrelay.day d
         where d.dropped_at is not null and d.restored_at is null
           and exists (select from rowrelay.seal e where e.day = d.day)) as dropped
  from rowrelay.source o left join rowrelay.seal s on true
 group by o.seals;
