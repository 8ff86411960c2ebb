-- The statements that add to enums here the labels that the source's have and these lack, each after the one that it
-- follows there. An empty text: none lacks.
--   $1 [{"type", "labels"}] as rowrelay.type_definitions() gives it, or null
with wanted as (
  select t.type, t.position, l.label, l.place, lag(l.label) over labels as former,
         exists (select from pg_enum e where e.enumtypid = to_regtype(t.type) and e.enumlabel = l.label) as is_here
    from rows from (json_to_recordset($1::json) as (type text, labels json)) with ordinality
           as t(type, labels, position)
   cross join json_array_elements_text(t.labels) with ordinality as l(label, place)
   where exists (select from pg_type k where k.oid = to_regtype(t.type) and k.typtype = 'e')
  window labels as (partition by t.type order by l.place)
)
select coalesce(string_agg(format('alter type %s add value if not exists %L', w.type, w.label)
                           || coalesce(' after ' || quote_literal(w.former),
                                       (select format(' before %L', e.enumlabel) from pg_enum e
                                         where e.enumtypid = to_regtype(w.type) order by e.enumsortorder limit 1), '')
                           || '; ', '' order by w.position, w.place), '')
  from wanted w
 where not w.is_here
