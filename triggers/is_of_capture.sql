-- Purpose:    whether a capture covers a table by the present catalogs. A trigger function knows its tables by their
--             oids, which are others where the database was restored from a dump, until maintenance has made it anew.
-- Parameters: capture id; table
create or replace function rowrelay.is_of_capture(capture_id integer, relation oid) returns boolean
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  return exists (
    select from rowrelay.capture c
     where c.id = capture_id
       and (c.relation = is_of_capture.relation or rowrelay.is_heir(is_of_capture.relation, c.relation)
            or exists (select from pg_partition_ancestors(is_of_capture.relation) as a(relid)
                        where a.relid = c.relation)));
end
$$;
