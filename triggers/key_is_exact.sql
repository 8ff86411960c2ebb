-- Purpose:    whether two keys of these columns are equal exactly when their texts (rowrelay.key_expression) are
-- Parameters: relation; attribute numbers
-- Result:     false also when there is no key
create or replace function rowrelay.key_is_exact(relation regclass, numbers smallint[]) returns boolean
language sql stable as $$
  select count(*) = cardinality(numbers) and cardinality(numbers) > 0
    from pg_attribute a
   where a.attrelid = relation and a.attnum = any (numbers) and not a.attisdropped
     and rowrelay.text_is_exact(a.atttypid, a.attcollation)
     -- in a JSON array char(n) keeps its blanks, and arrays lose their lower bounds
     and (cardinality(numbers) = 1
          or rowrelay.base_type(a.atttypid) <> 'bpchar'::regtype
             and not exists (select from rowrelay.type_parts(a.atttypid, a.attcollation)))
$$;
