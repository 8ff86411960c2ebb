-- Purpose:    makes lastval() say what it did before this session took a change id: see rowrelay.former_lastval().
--             Everybody may ask sequence rowrelay.lastval. setval() changes what this session remembers, so it does not
--             matter what others set it to; a session that inserts rows in turn mostly finds the next number in its
--             cache.
-- Parameters: former: what that function returned; null: lastval() fails from now on, because only the schema's owner
--             may ask sequence rowrelay.no_lastval
-- Result:     means nothing
create or replace function rowrelay.keep_lastval(former bigint) returns bigint
language sql volatile as $$
  select case when former is null then pg_catalog.nextval('rowrelay.no_lastval'::pg_catalog.regclass)
              when pg_catalog.nextval('rowrelay.lastval'::pg_catalog.regclass) operator(pg_catalog.=) former then former
              else pg_catalog.setval('rowrelay.lastval'::pg_catalog.regclass, former) end
$$;
