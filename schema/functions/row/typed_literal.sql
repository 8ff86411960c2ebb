-- Purpose:    a value as it stands in a statement: 'paid'::text
-- Parameters: relation; column; text as rowrelay.row_texts() gives it, null for null
-- Result:     SQL that means the same whatever the session's settings
create or replace function rowrelay.typed_literal(relation regclass, column_name text, value text) returns text
language sql stable set search_path = pg_catalog, pg_temp as $$
  select quote_nullable(value)
         || case when rowrelay.base_type(a.atttypid) = 'money'::regtype then '::numeric' else '' end
         || '::' || format_type(a.atttypid, a.atttypmod)
    from pg_attribute a
   where a.attrelid = relation and a.attname = column_name and not a.attisdropped
$$;
