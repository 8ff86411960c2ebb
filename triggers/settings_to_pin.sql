-- Purpose:    the settings of a session that change how this table's values read as text. Each costs a writer about a
--             microsecond a row, so only those that its columns need are pinned.
-- Parameters: relation; attribute numbers of columns whose text becomes key or lane
-- Result:     SET clauses for the trigger function
create or replace function rowrelay.settings_to_pin(relation regclass, key_columns smallint[]) returns text
language sql stable as $$
  with recursive part(type, in_text) as (
    -- in_text: read through the type's own output function, where JSON's ISO dates do not help
    select rowrelay.base_type(a.atttypid), a.attnum = any (key_columns)
      from pg_attribute a where a.attrelid = relation and a.attnum > 0 and not a.attisdropped
    union
    select rowrelay.base_type(inner_type.oid), part.in_text or inner_type.as_text
      from part
      cross join lateral (
        select t.typelem, true from pg_type t where t.oid = part.type and t.typelem <> 0
        union all
        select a.atttypid, false from pg_type t join pg_attribute a on a.attrelid = t.typrelid
         where t.oid = part.type and t.typtype = 'c' and a.attnum > 0 and not a.attisdropped
        union all
        select r.rngsubtype, true from pg_range r where r.rngtypid = part.type
        union all
        select r.rngsubtype, true from pg_range r
         where to_jsonb(r) ->> 'rngmultitypid' = part.type::text -- PostgreSQL 14 has it
      ) as inner_type(oid, as_text)
  )
  select concat_ws(' ',
    case when exists (select from part where type in ('float4'::regtype, 'float8'::regtype, 'point'::regtype,
                        'lseg'::regtype, 'path'::regtype, 'box'::regtype, 'polygon'::regtype, 'line'::regtype,
                        'circle'::regtype))
         then 'set extra_float_digits to 1' end,
    case when exists (select from part where type = 'timestamptz'::regtype) then 'set timezone to ''UTC''' end,
    case when exists (select from part where in_text
                        and type in ('date'::regtype, 'timestamp'::regtype, 'timestamptz'::regtype))
         then 'set datestyle to ''ISO, MDY''' end,
    case when exists (select from part where type = 'interval'::regtype) then 'set intervalstyle to ''postgres''' end,
    case when exists (select from part where type = 'bytea'::regtype) then 'set bytea_output to ''hex''' end,
    case when exists (select from part where type = 'money'::regtype) then 'set lc_monetary to ''C''' end,
    -- names of objects are written with their schema only when that is not in the path; extensions' types may look
    -- anything up
    case when exists (select from part join pg_type t on t.oid = part.type
                       where t.typname like 'reg%' or t.typtype = 'b' and t.typelem = 0 and t.oid >= 16384)
         then 'set search_path to pg_catalog, pg_temp' end)
$$;
