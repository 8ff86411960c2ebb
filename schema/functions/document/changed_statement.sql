-- Purpose:    returns a user's query for the keys of changed rows, in which "changed" stands for these rows
-- Parameters: relation; the query; an expression of type json for the rows: an array of their images; hidden: numbers
--             of columns that "changed" is not to have
-- Result:     a query with the same columns
create or replace function rowrelay.changed_statement(relation regclass, keys_query text, images text,
                                                      hidden smallint[] default '{}') returns text
language sql stable as $$
  select case when keys_query ~* E'^with\\s+recursive\\M'
                then 'with recursive ' || c.changed || ', '
                     || regexp_replace(keys_query, E'^with\\s+recursive\\M', '', 'i')
              when keys_query ~* E'^with\\M'
                then 'with ' || c.changed || ', ' || regexp_replace(keys_query, E'^with\\M', '', 'i')
              else 'with ' || c.changed || ' ' || keys_query end
    from (select format('changed as (select * from pg_catalog.json_to_recordset(%s) as changed (%s))', images,
                        string_agg(format('%I %s', a.attname, c.type), ', ' order by a.attnum)) as changed
            from pg_attribute a
           cross join lateral (
             -- as text what would run CHECKs of domains, which are the code of who owns them
             select case when rowrelay.has_inner_domain(a.atttypid) then 'pg_catalog.text'
                         else rowrelay.plain_type(a.atttypid, 0) end as type) as c
           where a.attrelid = relation and a.attnum > 0 and not a.attisdropped and a.attnum <> all (hidden)) as c
$$;
