-- What is sealed: seals, changes, days, redactions, the head; whether days are to be sealed; how many days that are over are
-- not sealed yet; how many that were sealed have been dropped.
select coalesce(max(s.position), 0), coalesce(sum(s.changes), 0), count(distinct s.day), count(s.redaction), rowrelay.seal_head(),
       o.seals,
       (select count(*) from rowrelay.partition_days() p
         where p.day < (now() at time zone 'UTC')::date - 1
           and p.day > coalesce((select max(e.day) from rowrelay.seal e where e.ends_day), '-infinity')),
       (select count(*) from rowrelay.day d
         where d.dropped_at is not null and d.restored_at is null and exists (select from rowrelay.seal e where e.day = d.day))
  from rowrelay.source o left join rowrelay.seal s on true
 group by o.seals;
