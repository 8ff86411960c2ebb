-- Purpose:    tells which value rows have in columns that are younger than they are: an image from before such a column
--             lacks it, and the table shows this value without having written it (ADD COLUMN with a constant default)
-- Parameters: capture
-- Result:     number and value of each such column; names: names that an image without the column may have: those of
--             other columns, now and before, as far as this column never had them. No row where the value is not known,
--             nor for a column that was left out for a while, in which rows may have got other values.
create or replace function rowrelay.older_values(capture rowrelay.capture)
  returns table (number smallint, value text, names json)
-- the text must not depend on the session
language plpgsql stable set datestyle = 'ISO, YMD' set intervalstyle = 'postgres' set timezone = 'UTC'
  set extra_float_digits = 3 set bytea_output = 'hex' as $$
declare
  younger smallint[] := array(
    select a.attnum from pg_attribute a
     where a.attrelid = capture.relation and a.attnum > 0 and not a.attisdropped
       and (select bool_or(a.attnum <> all (s.numbers)) and bool_and(a.attnum <> all (s.hidden))
              from rowrelay.shape s where s.capture = older_values.capture.id));
  here text;
begin
  if younger = '{}' then
    return;
  end if;
  here := rowrelay.numbered_here(capture.relation);
  return query
    select a.attnum,
           case when a.atttypid = 'bool'::regtype then v.value::bool::text else v.value end, -- as texts, too
           (select json_agg(n.name order by n.name)
              from (select b.attname::text as name from pg_attribute b
                     where b.attrelid = a.attrelid and b.attnum > 0 and not b.attisdropped and b.attnum <> a.attnum
                    union
                    select u.name from rowrelay.shape s cross join unnest(s.numbers, s.names) as u(number, name)
                     where s.capture = older_values.capture.id and u.number <> a.attnum) as n
             where not exists (select from rowrelay.shape s cross join unnest(s.numbers, s.names) as u(number, name)
                                where s.capture = older_values.capture.id and u.number = a.attnum and u.name = n.name))
      from pg_attribute a
     cross join lateral (
       select coalesce(
                case when not rowrelay.has_other_parts(capture, a.attname) then
                  coalesce((a.attmissingval::text::text[])[1],
                           -- of a partitioned table only the partitions have it
                           (select min((p.attmissingval::text::text[])[1])
                              from unnest(case when exists (select from pg_class r
                                                             where r.oid = capture.relation and r.relhassubclass)
                                               then rowrelay.captured_tables(capture) end) as t(relation)
                              join pg_attribute p
                                on p.attrelid = t.relation and p.attname = a.attname and not p.attisdropped)) end,
                (select o.value from rowrelay.older_value o
                  where o.capture = older_values.capture.id and o.number = a.attnum
                    and o.numbered_at = here)) as value) as v
     where a.attrelid = capture.relation and a.attnum = any (younger) and v.value is not null;
end
$$;
