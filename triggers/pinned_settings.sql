-- Purpose:    lists the session's settings on which the text of a table's values depends
-- Parameters: relation; attribute numbers of columns whose text becomes key or lane
-- Result:     name; the value that it must have while a row is captured; all values that give the same texts
create or replace function rowrelay.pinned_settings(relation regclass, key_columns smallint[], out name text,
                                                    out wanted text, out good text) returns setof record
language plpgsql stable as $$ -- rather than SQL, because its plan is kept
begin
  return query
  with recursive text_column as materialized (
    select w.name from rowrelay.awkward_columns(relation) w where not w.is_json
  ), part(type, in_text) as (
    -- in_text: read through the type's own output function, where JSON's ISO dates do not help
    select rowrelay.base_type(a.atttypid),
           a.attnum = any (key_columns)
             or a.attname in (select c.name from text_column c)
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
  ), name_part as (
    select from part join pg_type t on t.oid = part.type where t.typname like 'reg%'
  ), foreign_part as (
    -- an extension's type may depend on any setting
    select from part join pg_type t on t.oid = part.type where t.typtype = 'b' and t.typelem = 0 and t.oid >= 16384
  ), needed(name, wanted, good) as (
    -- good: values that give the same texts as the wanted one
    select 'extra_float_digits', '1', case when exists (select from foreign_part) then '{1}' else '{1,2,3}' end
     where exists (select from part where type in ('float4'::regtype, 'float8'::regtype, 'point'::regtype,
                     'lseg'::regtype, 'path'::regtype, 'box'::regtype, 'polygon'::regtype, 'line'::regtype,
                       'circle'::regtype))
        or exists (select from foreign_part)
    union all
    select 'timezone', 'UTC', '{UTC,Etc/UTC}' where exists (select from part where type = 'timestamptz'::regtype)
    union all
    select 'datestyle', 'ISO, MDY', '{"ISO, MDY","ISO, DMY","ISO, YMD"}'
     where exists (select from part where in_text
                   and type in ('date'::regtype, 'timestamp'::regtype, 'timestamptz'::regtype))
    union all
    select 'intervalstyle', 'postgres', '{postgres}' where exists (select from part where type = 'interval'::regtype)
    union all
    select 'bytea_output', 'hex', '{hex}' where exists (select from part where type = 'bytea'::regtype)
    union all
    select 'lc_monetary', 'C', '{C}' where exists (select from part where type = 'money'::regtype)
    union all
    select 'quote_all_identifiers', 'off', '{off}' where exists (select from name_part)
    union all
    -- names of objects have their schema only when it is not in search_path
    select 'search_path', 'pg_catalog, pg_temp', '{"pg_catalog, pg_temp"}'
     where exists (select from name_part) or exists (select from foreign_part)
  )
  select n.name, n.wanted, n.good from needed n order by n.name;
end
$$;
