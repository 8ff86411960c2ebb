-- Purpose:    lets a capture of a table take the place of other ones: a new one that of former ones of the same table,
--             which was released, and those of a table that is gone and had its name. Documents that are built from it
--             read its changes from now on, and lack those made meanwhile; so do the targets that such a table went to
--             until now, or one that had its name and has another one now, as soon as the new one goes there. Documents
--             whose queries name the table read its changes although they were built from one that had the name.
-- Parameters: capture; is_new: whether its table was not captured
-- Result:     warns of the documents
create or replace function rowrelay.take_over(capture rowrelay.capture, is_new boolean) returns void
language plpgsql as $$
declare
  other     record;
  former    rowrelay.capture;
  documents integer[] := '{}';
  taken     integer[];
begin
  for other in
    select c as capture, n.is_whole -- leaves nothing
      from rowrelay.capture c
     cross join lateral (
       select is_new and (c.relation = capture.relation
                          or capture.relation_name in (c.relation_name, c.chosen_name)
                             and not exists (select from pg_class r where r.oid = c.relation)) as is_whole) as n
     where c.id <> capture.id and c.relation <> 0
       and (n.is_whole
            or is_new and c.chosen_name = capture.relation_name and c.released_at is null
            or c.relation <> capture.relation
               and exists (select from rowrelay.document_source s
                            where s.capture = c.id and s.relation_name = capture.relation_name))
     order by c.id
  loop
    former := other.capture;
    if former.released_at is null and is_new and (other.is_whole or former.chosen_name = capture.relation_name) then
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
       where s.capture = former.id and (other.is_whole or s.relation_name = take_over.capture.relation_name)
         and t.id = s.document and t.dropped_at is null
      returning s.document
    )
    select array_agg(s.document) into taken from source s;
    documents := documents || taken;
    if taken <> '{}' and not other.is_whole and former.released_at is null then
      perform rowrelay.make_trigger_function(former.id);
    end if;
  end loop;
  if documents <> '{}' then
    if not is_new then -- no writer may go on with a function that does not know of them
      perform rowrelay.lock_tables(rowrelay.captured_tables(capture), 'share row exclusive', '1 min');
    end if;
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
