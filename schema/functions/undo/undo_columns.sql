-- Purpose:    returns the columns of captured tables, as the statements of an undo name and compare them
-- Parameters: captures
-- Result:     capture; number and name; name in SQL; type_cast: what follows a text of rowrelay.row_texts() to make it
--             a value that means the same under any session settings; key_place: position in the key, null: not of it;
--             equality: operator of the key's type; is_masked; what an INSERT has to know: is_generated, is_identity
--             (GENERATED ALWAYS), added_value: of rows that are older than the column
create or replace function rowrelay.undo_columns(captures integer[])
returns table (capture integer, number smallint, name text, identifier text, type_cast text, key_place bigint,
               equality text, is_masked boolean, is_generated boolean, is_identity boolean, added_value text)
language sql stable set search_path = pg_catalog, pg_temp
set datestyle = 'ISO, MDY' set timezone = 'UTC' set intervalstyle = 'postgres'
set array_nulls = on set bytea_output = 'hex'
set extra_float_digits = 1 set lc_monetary = 'C' set quote_all_identifiers = off as $$
  select c.id, a.attnum, a.attname, format('%I', a.attname),
         case when b.base = 'money'::regtype then '::numeric' else '' end
           || '::' || format_type(a.atttypid, a.atttypmod),
         u.place, coalesce(e.operator, '='), c.mask ? a.attnum::text or c.mask_names ? a.attname::text,
         a.attgenerated <> '', a.attidentity = 'a',
         case when not a.atthasmissing then null
              when b.base = 'money'::regtype then (a.attmissingval::text::money[])[1]::numeric::text
              else (a.attmissingval::text::text[])[1] end
    from rowrelay.capture c
    join pg_attribute a on a.attrelid = c.relation and a.attnum > 0 and not a.attisdropped
   cross join rowrelay.base_type(a.atttypid) as b(base)
    left join unnest(rowrelay.live_key(c)) with ordinality as u(number, place) on u.number = a.attnum
    left join lateral (
      select format('operator(%I.%s)', n.nspname, o.oprname) as operator
        from pg_opclass k
        join pg_am m on m.oid = k.opcmethod and m.amname = 'btree'
        join pg_amop p on p.amopfamily = k.opcfamily and p.amoplefttype = k.opcintype and p.amoprighttype = k.opcintype
                      and p.amopstrategy = 3
        join pg_operator o on o.oid = p.amopopr
        join pg_namespace n on n.oid = o.oprnamespace and n.nspname <> 'pg_catalog'
       where k.opcdefault and k.opcintype = b.base and u.place is not null) as e on true
   where c.id = any (captures)
$$;
