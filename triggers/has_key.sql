-- Purpose:    returns SQL for whether no column of a row's key is null. It asks whatever the table says, because
--             NOT NULL may be dropped while a trigger function that was made before is used.
-- Parameters: relation; attribute numbers of the key; new or old
-- Result:     a condition; null: there is no key
create or replace function rowrelay.has_key(relation regclass, numbers smallint[], row_name text) returns text
language plpgsql stable as $$ -- rather than SQL, because its plan is kept
begin
  return (select string_agg(format('%I.%I is not null', row_name, a.attname), ' and ' order by a.attnum)
            from pg_attribute a where a.attrelid = relation and a.attnum = any (numbers) and not a.attisdropped);
end
$$;
