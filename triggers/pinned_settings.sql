-- Purpose:    lists the session's settings on which the text of a table's values depends
-- Parameters: relation; attribute numbers of columns whose text becomes key or lane
-- Result:     name; the value that it must have while a row is captured; all values that give the same texts
create or replace function rowrelay.pinned_settings(relation regclass, key_columns smallint[], out name text,
                                                    out wanted text, out good text) returns setof record
language plpgsql stable as $$ -- step by step, because every plan of a recursive query for it is bad at times
declare
  -- Types of values and of their parts: all, and those that are read through a type's own output function, where JSON's
  -- ISO dates do not help.
  types      oid[] := '{}';
  texts      oid[] := '{}';
  todo       oid[];
  todo_texts oid[];
  parts      oid[];
  is_text    boolean;
  type       pg_type;
  is_name    boolean := false;
  is_foreign boolean := false;
  is_array   boolean := false;
begin
  select array_agg(rowrelay.base_type(a.atttypid)) filter (where not u.is_text),
         array_agg(rowrelay.base_type(a.atttypid)) filter (where u.is_text)
    into todo, todo_texts
    from pg_attribute a
    left join rowrelay.awkward_columns(relation) as w on w.name = a.attname and not w.is_json
   cross join lateral (select coalesce(a.attnum = any (key_columns), false) or w.name is not null) as u(is_text)
   where a.attrelid = relation and a.attnum > 0 and not a.attisdropped;
  while cardinality(todo) > 0 or cardinality(todo_texts) > 0 loop
    is_text := (cardinality(todo) > 0) is not true;
    select t.* into type from pg_type t where t.oid = case when is_text then todo_texts[1] else todo[1] end;
    if is_text then
      todo_texts := todo_texts[2:];
      continue when type.oid = any (texts);
      texts := texts || type.oid;
    else
      todo := todo[2:];
      continue when type.oid = any (types);
    end if;
    types := types || type.oid;
    is_name := is_name or type.typname like 'reg%';
    is_foreign := is_foreign or type.typtype = 'b' and type.typelem = 0 and type.oid >= 16384;
    -- of which rowrelay.safe_json() reads the text
    is_array := is_array or rowrelay.element_type(type.oid) is not null
                            and not rowrelay.is_safe_type(rowrelay.element_type(type.oid));
    if type.typelem <> 0 then
      todo_texts := todo_texts || rowrelay.base_type(type.typelem);
    elsif type.typtype in ('r', 'm') then
      todo_texts := todo_texts || array(select rowrelay.base_type(r.rngsubtype) from pg_range r
                                         -- PostgreSQL 14 has multiranges
                                         where type.oid::text in (r.rngtypid::text, to_jsonb(r) ->> 'rngmultitypid'));
    elsif type.typtype = 'c' then
      parts := array(select rowrelay.base_type(a.atttypid) from pg_attribute a
                      where a.attrelid = type.typrelid and a.attnum > 0 and not a.attisdropped);
      if is_text then
        todo_texts := todo_texts || parts;
      else
        todo := todo || parts;
      end if;
    end if;
  end loop;

  return query
  select n.name, n.wanted, n.good
    from (values ('array_nulls', 'on', '{on}', is_array),
                 ('bytea_output', 'hex', '{hex}', 'bytea'::regtype = any (types)),
                 ('datestyle', 'ISO, MDY', '{"ISO, MDY","ISO, DMY","ISO, YMD"}',
                  texts && '{date,timestamp,timestamptz}'::regtype[]::oid[]),
                 -- an extension's type may depend on any setting
                 ('extra_float_digits', '1', case when is_foreign then '{1}' else '{1,2,3}' end,
                  is_foreign or types && '{float4,float8,point,lseg,path,box,polygon,line,circle}'::regtype[]::oid[]),
                 ('intervalstyle', 'postgres', '{postgres}', 'interval'::regtype = any (types)),
                 ('lc_monetary', 'C', '{C}', 'money'::regtype = any (types)),
                 ('quote_all_identifiers', 'off', '{off}', is_name),
                 -- names of objects have their schema only when it is not in search_path
                 ('search_path', 'pg_catalog, pg_temp', '{"pg_catalog, pg_temp"}', is_name or is_foreign),
                 ('timezone', 'UTC', '{UTC,Etc/UTC}', 'timestamptz'::regtype = any (types)))
           as n(name, wanted, good, is_needed)
   where n.is_needed
   order by n.name;
end
$$;
