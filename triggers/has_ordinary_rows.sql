-- Purpose:    whether the trigger function of a table can be made of two, of which the first captures ordinary rows
--             (rowrelay.ordinary_body)
-- Parameters: capture
-- Result:     false for a table with a filter, documents, no key, inheritance children, key or lane columns whose text
--             or hash could fail, columns of extensions' types, names that are PL/pgSQL's own words, or columns none of
--             whose values survives as JSON
create or replace function rowrelay.has_ordinary_rows(capture rowrelay.capture) returns boolean
language plpgsql stable as $$
declare
  relation     constant regclass := capture.relation;
  key_columns  constant smallint[] := rowrelay.live_key(capture);
  used_columns constant smallint[] := key_columns || capture.lane_columns;
begin
  return cardinality(key_columns) > 0 and capture.row_filter is null and not rowrelay.has_children(relation)
     and not exists (select from pg_attribute a
                      cross join lateral (select rowrelay.base_type(a.atttypid) as oid offset 0) as b
                       join pg_type t on t.oid = b.oid
                      where a.attrelid = relation and a.attnum > 0 and not a.attisdropped
                        and (a.attname = any ('{begin,by,declare,execute,foreach,if,loop,strict,while}')
                             -- keys and lanes are computed where nothing is guarded
                             or a.attnum = any (used_columns)
                                and (t.oid >= 16384 and t.typtype <> 'e' or rowrelay.may_be_long(t.oid))))
     and not exists (select from rowrelay.document_source s join rowrelay.target t on t.id = s.document
                      where s.capture = capture.id and t.dropped_at is null)
     -- each of them makes the function larger, or no value of it is ordinary
     and (select count(*) <= 4 and coalesce(bool_and(a.condition <> '%1$s is distinct from null'), true)
            from rowrelay.awkward_columns(relation) as a, rowrelay.image_columns(capture) as i
           where (i.keep is null or a.name = any (i.keep)) and a.name <> all (i.leave_out))
     -- no application has this one as it would have to be
     and not exists (select from rowrelay.pinned_settings(relation, used_columns) as p
                      where p.name = 'search_path');
end
$$;
