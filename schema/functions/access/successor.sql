-- Purpose:    finds the table that has the name now that a captured one had when somebody chose it, while that one has
--             another name or is gone: a new table has taken its place, as in a migration that copies a table and swaps
--             the names. Nobody said that it is to be captured. A view, as it is put in a renamed table's place, is
--             none.
-- Parameters: capture
-- Result:     relation: the table; null: none has the name, or it is captured, and goes to every target that the other
--             one goes to. is_captured: whether it is. for_documents: all that is missing is that documents whose
--             queries name the table are refreshed by it
create or replace function rowrelay.successor(capture rowrelay.capture, out relation regclass, out is_captured boolean,
                                              out for_documents boolean)
language plpgsql stable as $$ -- rather than SQL, because its plan is kept
begin
  select r.oid::regclass, o.id is not null, m.place = 3 into relation, is_captured, for_documents
    from (select p.oid is null as is_gone
            from (values (capture.relation::oid)) as own(oid) left join pg_class p on p.oid = own.oid) as own
   cross join lateral (
      select 1, capture.chosen_name
      union all
      select 2, capture.relation_name where own.is_gone
      union all
      select 3, s.relation_name
        from rowrelay.document_source s join rowrelay.target t on t.id = s.document and t.dropped_at is null
       where s.capture = capture.id) as m(place, name)
    join pg_namespace n on n.nspname = (parse_ident(m.name))[1]
    join pg_class r on r.relnamespace = n.oid and r.relname = (parse_ident(m.name))[2] and r.relkind in ('r', 'p')
    left join rowrelay.capture o on o.relation = r.oid and o.released_at is null
   where r.oid <> capture.relation
     and (o.id is null or m.place = 3
          or not own.is_gone
             and exists (select from rowrelay.route g
                          where g.capture = capture.id and g.until_id is null
                            and not exists (select from rowrelay.route h
                                             where h.capture = o.id and h.target = g.target and h.until_id is null)))
   order by m.place limit 1;
end
$$;
