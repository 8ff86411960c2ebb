-- The captured tables, for people.
select case when exists (select from pg_class r where r.oid = c.relation) then c.relation::text
            else c.relation_name end as "table",
       array_to_string(c.key, ', ') as key, array_to_string(c.targets, ', ') as targets,
       case when c.per = 'statement' and c.by_row_because is null then 'PL/pgSQL, by statement'
            when c.native then 'rowrelay_native' else 'PL/pgSQL' end as "captured by",
       concat_ws('; ', c.note, c.waits, 'captured by row, because ' || c.by_row_because,
                 c.native_obstacle) as note
  from rowrelay.captures c
 order by 1;
