-- Purpose:    notes in which files a capture's rows are, and which types its columns have
-- Parameters: capture
-- Result:     is_new: a table has another file than when that was last noted, so all of its rows were written anew
--             since, or truncated; altered: numbers of columns whose values may be others now, although no trigger was
--             fired, or may have been rounded by who did not know of the new type yet (ALTER COLUMN TYPE)
create or replace function rowrelay.note_files(capture rowrelay.capture, out is_new boolean, out altered smallint[])
language plpgsql set search_path = pg_catalog, pg_temp as $$ -- types are named in full
declare
  was rowrelay.table_files;
  now rowrelay.table_files;
begin
  select f.* into was from rowrelay.table_files f where f.capture = note_files.capture.id;
  now.capture := capture.id;
  now.numbered_at := rowrelay.numbered_here(capture.relation);
  -- In one statement: an alteration that is committed meanwhile is seen as a whole or not at all.
  select r.relations, r.files, k.numbers, k.types, k.versions, k.defaults
    into now.relations, now.files, now.numbers, now.types, now.versions, now.defaults
    from (select coalesce(array_agg(c.oid order by c.oid), '{}') as relations,
                 coalesce(array_agg(c.relfilenode order by c.oid), '{}') as files
            from pg_class c where c.oid = any (rowrelay.captured_tables(capture))) as r
   cross join (select coalesce(array_agg(a.attnum order by a.attnum), '{}') as numbers,
                      coalesce(array_agg(format_type(a.atttypid, a.atttypmod) order by a.attnum), '{}') as types,
                      coalesce(array_agg(rowrelay.column_version(a.atttypmod, a.xmin) order by a.attnum), '{}')
                        as versions,
                      coalesce(array_agg(coalesce(d.oid, 0) order by a.attnum), '{}') as defaults
                 from pg_attribute a
                 left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
                where a.attrelid = capture.relation and a.attnum > 0 and not a.attisdropped) as k;
  if was is distinct from now then
    delete from rowrelay.table_files f where f.capture = note_files.capture.id;
    insert into rowrelay.table_files select now.*;
  end if;

  is_new := false;
  altered := '{}';
  if was.numbered_at = now.numbered_at then
    is_new := exists (select from unnest(was.relations, was.files) as w(relation, file)
                        join unnest(now.relations, now.files) as n(relation, file) on n.relation = w.relation
                       where n.file <> w.file);
    -- To forget what older rows have in an added column, PostgreSQL writes its description anew, too, but not its type
    -- nor its default.
    altered := array(
      select n.number
        from unnest(was.numbers, was.types, was.versions, was.defaults) as w(number, type, version, default_value)
        join unnest(now.numbers, now.types, now.versions, now.defaults) as n(number, type, version, default_value)
          on n.number = w.number
       where is_new and n.version <> w.version
             and (n.type <> w.type or n.default_value <> w.default_value or n.default_value = 0
                  or not exists (select from rowrelay.older_value o
                                  where o.capture = note_files.capture.id and o.number = n.number
                                    and o.numbered_at = now.numbered_at))
          or n.type <> w.type and concat(n.type, w.type) !~ '^(character varying|text|[()0-9])+$'
       order by n.number);
    -- What older rows had in it may be no text of the new type.
    delete from rowrelay.older_value o
     using unnest(was.numbers, was.types) as w(number, type)
      join unnest(now.numbers, now.types) as n(number, type) on n.number = w.number
     where o.capture = note_files.capture.id and o.number = n.number and o.numbered_at = now.numbered_at
       and is_new and n.type <> w.type
       and not (concat(n.type, w.type) ~ '^(smallint|integer|bigint)+$'
                or n.type ~ '^(text|character varying)' and w.type ~ '^(smallint|integer|bigint|boolean|uuid)$');
  end if;
end
$$;
