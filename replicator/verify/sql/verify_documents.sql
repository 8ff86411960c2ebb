-- The documents that go to a target, or those that are named: name, and number of the document's own target, null when
-- the target gets no document of that name; and when changes were noted to be missing there.
--   $1 target  $2 names, JSON array; null: all
-- Gives verify_document_named: name, number, gap
select coalesce(w.name, o.name) as name, o.id as number,
       (select max(g.noted_at) from rowrelay.gap g where g.target = o.id) as gap
  from (select t.id, t.name from rowrelay.document d join rowrelay.target t on t.id = d.target
         where d.delivers_to = $1::integer and t.dropped_at is null) as o
  full join (select distinct n as name from json_array_elements_text($2::json) as n) as w on w.name = o.name
 where $2::text is null or w.name is not null
 order by 1;
