-- Purpose:    notes in which files a capture's rows are
-- Parameters: capture
-- Result:     whether a table has another file than when that was last noted: all of its rows were written anew since,
--             or truncated
create or replace function rowrelay.note_files(capture rowrelay.capture) returns boolean
language plpgsql as $$
declare
  was rowrelay.table_files;
  now rowrelay.table_files;
begin
  select f.* into was from rowrelay.table_files f where f.capture = note_files.capture.id;
  select coalesce(array_agg(r.oid order by r.oid), '{}'), coalesce(array_agg(r.relfilenode order by r.oid), '{}')
    into now.relations, now.files
    from pg_class r where r.oid = any (rowrelay.captured_tables(capture));
  insert into rowrelay.table_files as f (capture, relations, files) values (capture.id, now.relations, now.files)
      on conflict on constraint table_files_pkey do update set relations = excluded.relations, files = excluded.files
   where (f.relations, f.files) is distinct from (excluded.relations, excluded.files);
  return exists (select from unnest(was.relations, was.files) as w(relation, file)
                   join unnest(now.relations, now.files) as n(relation, file) on n.relation = w.relation
                  where n.file <> w.file);
end
$$;
