-- The targets to be reached, without documents, which go to one of them; of a failing one, why; and the names of the
-- tables that are kept like their sources there, also by documents, as a JSON array.
-- Gives doctor_target: name, note, mirrors
select t.name as name,
       (select s.note from rowrelay.status s where s.target = t.name and s.state = 'failing') as note,
       (select coalesce(json_agg(distinct r.into_table), '[]')
          from rowrelay.route r
          join rowrelay.target o on o.id = r.target
          left join rowrelay.document d on d.target = o.id
          join rowrelay.target p on p.id = coalesce(d.delivers_to, o.id)
         where p.name = t.name and p.dropped_at is null and r.until_id is null and rowrelay.keeps_state(p)) as mirrors
  from rowrelay.targets t order by t.name;
