-- Purpose:    notes that targets lack changes (rowrelay.gap) where a type that columns have was altered so that rows
--             have other values, although none was written and no trigger fired: an enum's label was renamed, a
--             composite type's attribute was dropped or renamed. A label that is added changes no value; an attribute
--             does where a running process delivers rows that have it before it knows of it.
-- Result:     numbers of captures whose targets lack that
create or replace function rowrelay.note_type_parts() returns setof integer
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  -- numbers mean nothing in a restored or upgraded database
  system constant text := concat_ws(' ', rowrelay.system_identifier(), rowrelay.database_oids());
  altered oid[];
begin
  -- once for all tables that have a type
  with recursive used(type) as (
    select distinct a.atttypid
      from rowrelay.capture c
      join pg_attribute a on a.attrelid = c.relation and a.attnum > 0 and not a.attisdropped and a.atttypid >= 16384
     where c.released_at is null
  ), part(type, inner_type) as (
    select u.type, u.type from used u
    union
    select p.type, n.type
      from part p
      join pg_type t on t.oid = p.inner_type
     cross join lateral (
       select unnest(array[t.typbasetype, t.typelem])
       union all
       select r.rngsubtype from pg_range r where r.rngtypid = t.oid
       union all
       select a.atttypid from pg_attribute a
        where t.typtype = 'c' and a.attrelid = t.typrelid and a.attnum > 0 and not a.attisdropped) as n(type)
     where n.type >= 16384
  ), here(type, parts) as (
    select p.type, array_agg(d.described order by d.described)
      from part p
     cross join lateral (
       select format('%s %s', e.oid, e.enumlabel) from pg_enum e where e.enumtypid = p.inner_type
       union all
       select format('%s.%s %s', t.oid, a.attnum, a.attname)
         from pg_type t join pg_attribute a on a.attrelid = t.typrelid and a.attnum > 0 and not a.attisdropped
        where t.oid = p.inner_type and t.typtype = 'c') as d(described)
     group by p.type
  ), noted as (
    insert into rowrelay.type_parts as t (type, numbered_at, parts)
    select h.type, system, h.parts from here h
     where not exists (select from rowrelay.type_parts w
                        where (w.type, w.numbered_at, w.parts) = (h.type, system, h.parts))
        on conflict on constraint type_parts_pkey
           do update set numbered_at = excluded.numbered_at, parts = excluded.parts
  )
  select array_agg(w.type) into altered
    from rowrelay.type_parts w join here h on h.type = w.type
   where w.numbered_at = system
     and (not w.parts <@ h.parts
          or exists (select from unnest(h.parts) as n where n ~ '^[0-9]+[.]' and n <> all (w.parts)));
  delete from rowrelay.type_parts p where not exists (select from pg_type t where t.oid = p.type);

  return query
    with lacking as (
      select c.id, array_agg(a.attnum) as numbers, (rowrelay.current_shape(c)).numbers as captured
        from rowrelay.capture c
        join pg_attribute a on a.attrelid = c.relation and a.attnum > 0 and not a.attisdropped
                               and a.atttypid = any (altered)
       where c.released_at is null
         and exists (select from unnest(rowrelay.captured_tables(c)) as t(relation)
                      where pg_relation_size(t.relation) > 0)
       group by c.id
    )
    select l.id
      from lacking l
     cross join rowrelay.note_gap(l.id, rowrelay.targets_of_columns(l.id, l.numbers, l.captured));
end
$$;
