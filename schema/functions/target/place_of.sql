-- Purpose:    spells the name of a table at a target in one way, so that names of one table are equal; a name without a
--             schema is in public
-- Parameters: name, quoted where it must be; what is no name of a table stays as it is
create or replace function rowrelay.place_of(into_table text) returns text
language plpgsql immutable strict as $$
declare
  parts text[];
begin
  parts := parse_ident(into_table);
  if cardinality(parts) = 1 then
    parts := array['public'] || parts;
  end if;
  return (select string_agg(quote_ident(p.part), '.' order by p.n) from unnest(parts) with ordinality as p(part, n));
exception when others then -- names of other kinds of targets
  return into_table;
end
$$;
