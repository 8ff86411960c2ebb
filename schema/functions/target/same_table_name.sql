-- Purpose:    whether two names mean one table; a name without a schema is in public
-- Parameters: names, quoted where they must be
create or replace function rowrelay.same_table_name(one text, other text) returns boolean
language plpgsql immutable as $$
begin
  return case when cardinality(parse_ident(one)) = 1 then array['public'] || parse_ident(one) else parse_ident(one) end
       = case when cardinality(parse_ident(other)) = 1 then array['public'] || parse_ident(other)
         else parse_ident(other) end;
exception when others then -- names of other kinds of targets
  return one = other;
end
$$;
