-- Purpose:    notes by which rows of pg_inherits partitions and inheritance children belong to a table. Of one that was
--             taken away and put back between two looks nothing else tells: what was written to it meanwhile was not
--             captured, and its triggers for TRUNCATE are there still.
-- Parameters: capture
-- Result:     those that were put back since; null: none. Of one that is being detached concurrently nothing is noted.
create or replace function rowrelay.note_part_links(capture rowrelay.capture) returns text
language plpgsql as $$
declare
  tables constant regclass[] := rowrelay.captured_tables(capture);
  -- transactions mean nothing in a restored or upgraded database
  system constant text := concat_ws(' ', rowrelay.system_identifier(), rowrelay.database_oids());
  again  text;
begin
  -- in one statement, because one may be put back meanwhile
  with here as (
    select i.inhrelid as relation, string_agg(i.xmin::text, ' ' order by i.inhparent) as link
      from unnest(tables) as t(relation)
      join pg_inherits i on i.inhrelid = t.relation
      join unnest(tables) as u(relation) on u.relation = i.inhparent
     where to_jsonb(i) -> 'inhdetachpending' is distinct from 'true' -- before version 14 there is none
     group by i.inhrelid
  ), was as (
    select p.* from rowrelay.part_link p where p.capture = note_part_links.capture.id
  ), noted as (
    insert into rowrelay.part_link as p (capture, relation, numbered_at, link)
    select note_part_links.capture.id, h.relation, system, h.link from here h
     where not exists (select from was w where (w.relation, w.numbered_at, w.link)
                                               = (h.relation, system, h.link))
        on conflict on constraint part_link_pkey do update set numbered_at = excluded.numbered_at, link = excluded.link
  )
  select string_agg(w.relation::regclass::text, ', ' order by w.relation) into again
    from was w join here h on h.relation = w.relation and h.link <> w.link
   where w.numbered_at = system;
  -- One that is taken away stays noted as long as there is such a table.
  delete from rowrelay.part_link p
   where p.capture = note_part_links.capture.id and not exists (select from pg_class c where c.oid = p.relation);
  return again;
end
$$;
