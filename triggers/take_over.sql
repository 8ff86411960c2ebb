-- Purpose:    lets a new capture of a table take the place of former ones: those of the same table, which was released;
--             and those of a table that is gone and had its name. Documents that are built from it read its changes
--             from now on, and lack those made meanwhile; so do the targets that such a table went to until now, as
--             soon as the new one goes there.
-- Parameters: capture
-- Result:     warns of the documents
create or replace function rowrelay.take_over(capture rowrelay.capture) returns void
language plpgsql as $$
declare
  former    rowrelay.capture;
  documents integer[] := '{}';
  taken     integer[];
begin
  for former in
    select c.* from rowrelay.capture c
     where c.id <> capture.id and c.relation <> 0
       and (c.relation = capture.relation
            or c.relation_name = capture.relation_name
               and not exists (select from pg_class r where r.oid = c.relation))
     order by c.id
  loop
    if former.released_at is null then
      perform rowrelay.note_gap(capture.id, array(select r.target from rowrelay.route r
                                                   where r.capture = former.id and r.until_id is null));
    end if;
    -- columns are found by name
    former.relation := capture.relation;
    with source as (
      update rowrelay.document_source s
         set capture = take_over.capture.id,
             key_column = (rowrelay.numbers_here(former, array[s.key_column]))[1],
             -- A column that is not here any more may be one that a document reads: then each update refreshes it.
             only_columns = (select case when 2000 >= all (n.numbers) then n.numbers end
                               from rowrelay.numbers_here(former, s.only_columns) as n(numbers))
        from rowrelay.target t
       where s.capture = former.id and t.id = s.document and t.dropped_at is null
      returning s.document
    )
    select array_agg(s.document) into taken from source s;
    documents := documents || taken;
  end loop;
  if documents <> '{}' then
    perform rowrelay.note_gap(capture.id, documents);
    raise warning 'table % was not captured for a while, so documents % may be out of date', capture.relation,
      (select string_agg(format('"%s"', t.name), ', ' order by t.name)
         from rowrelay.target t where t.id = any (documents))
      using hint = 'Rebuild them: '
                   || (select string_agg(rowrelay.gap_commands(capture.relation, true, t), '; ' order by t.name)
                         from rowrelay.target t where t.id = any (documents));
  end if;
end
$$;
