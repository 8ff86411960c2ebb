-- Purpose:    whether reading a key may run a user's CHECK, see rowrelay.has_inner_domain()
-- Parameters: relation; attribute numbers
create or replace function rowrelay.has_domain_parts(relation regclass, numbers smallint[]) returns boolean
language sql stable as $$
  select exists (select from pg_attribute a
                  where a.attrelid = relation and a.attnum = any (numbers) and not a.attisdropped
                    and rowrelay.has_inner_domain(a.atttypid))
$$;
