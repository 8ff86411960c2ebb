-- The statements that make what a table lacks to be like its source: types, table, columns. An empty text: it lacks
-- nothing.
--   $1 table's name, quoted where it must be
--   $2 [{"name", "type", "index": method of an index on it, or null}]
--   $3 names of the key's columns, JSON array
--   $4 [{"schema", "type", "definition"}] of types that people defined, or null
with wanted as (
  select c.name, c.type, c.index, c.position
    from rows from (json_to_recordset($2::json) as (name text, type text, index text)) with ordinality
           as c(name, type, index, position)
), key as (
  select json_array_elements_text($3::json) as name
), type as (
  select t.schema, t.type, t.definition, t.position
    from rows from (json_to_recordset($4::json) as (schema text, type text, definition text)) with ordinality
           as t(schema, type, definition, position)
), schema as (
  select distinct t.schema as name from type t where to_regtype(t.type) is null
  union
  select (parse_ident($1))[1] where cardinality(parse_ident($1)) = 2
)
select concat(
  (select string_agg(format('create schema %I; ', s.name), '')
     from schema s
    where to_regnamespace(quote_ident(s.name)) is null),
  (select string_agg(t.definition || '; ', '' order by t.position) from type t where to_regtype(t.type) is null),
  case when to_regclass($1) is null then
    format('create table %s (%s%s); ', $1,
           (select string_agg(format('%I %s', w.name, w.type), ', ' order by w.position) from wanted w),
           (select ', primary key (' || string_agg(format('%I', k.name), ', ') || ')' from key k having count(*) > 0))
  else
    (select string_agg(format('alter table %s add column if not exists %I %s; ', $1, w.name, w.type), ''
                       order by w.position)
       from wanted w
      where not exists (select from pg_attribute a
                         where a.attrelid = to_regclass($1) and a.attname = w.name and not a.attisdropped))
  end,
  (select string_agg(format('create index on %s using %s (%I); ', $1, w.index, w.name), '')
     from wanted w
    where w.index is not null
      and not exists (select from pg_attribute a
                       where a.attrelid = to_regclass($1) and a.attname = w.name and not a.attisdropped)));
