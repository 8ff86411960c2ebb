-- Purpose:    whether rows of a captured table's partitions and inheritance children have different values in a column
--             that is younger than they are: a child had such a column before its parent got one, or a partition came
--             with its own
-- Parameters: capture; name of the column
create or replace function rowrelay.has_other_parts(capture rowrelay.capture, column_name name) returns boolean
language plpgsql stable as $$ -- rather than SQL, because its plans are kept
begin
  if not exists (select from pg_class r where r.oid = capture.relation and r.relhassubclass) then
    return false;
  end if;
  return (
    select coalesce(bool_or(p.attislocal and p.attinhcount > 0), false)
           or coalesce(min(m.missing) <> max(m.missing), false)
      from unnest(rowrelay.captured_tables(capture)) as t(relation)
      join pg_attribute p on p.attrelid = t.relation and p.attname = column_name and not p.attisdropped
     cross join lateral (select (p.attmissingval::text::text[])[1] as missing) as m);
end
$$;
