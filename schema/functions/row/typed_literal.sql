-- Purpose:    returns a value as a typed literal: 'paid'::text
-- Parameters: relation; column; text as rowrelay.row_texts() returns it, null for null
-- Result:     SQL that means the same under any session settings
create or replace function rowrelay.typed_literal(relation regclass, column_name text, value text) returns text
language sql stable set search_path = pg_catalog, pg_temp as $$
  select quote_nullable(value)
         || case when rowrelay.base_type(a.atttypid) = 'money'::regtype then '::numeric' else '' end
         || '::' || format_type(a.atttypid, a.atttypmod)
    from pg_attribute a
   where a.attrelid = relation and a.attname = column_name and not a.attisdropped
$$;
