-- Purpose:    returns the tables that match a pattern, as psql's \d does: * and ? are wildcards, a dot separates schema
--             and table, letters are folded to lower case outside double quotes (in which "" is a quote), and a pattern
--             without a schema matches tables in the user's search_path.
-- Parameters: pattern
-- Result:     ordinary and partitioned tables that can be captured, in order of name. A pattern with wildcards does not
--             match partitions, except those that are captured by themselves.
create or replace function rowrelay.matching_tables(pattern text) returns setof regclass
language plpgsql stable as $$
declare
  letter        text;
  previous      text;
  quoted        boolean := false;
  regex         text := '';
  schema_regex  text;
  wild          boolean := false;
begin
  foreach letter in array string_to_array(pattern, null) loop
    if letter = '"' then
      -- as in SQL, "" within quotes is one quote
      if not quoted and previous = '"' then
        regex := regex || '"';
      end if;
      quoted := not quoted;
    elsif not quoted and letter = '*' then
      regex := regex || '.*';
      wild := true;
    elsif not quoted and letter = '?' then
      regex := regex || '.';
      wild := true;
    elsif not quoted and letter = '.' and schema_regex is null then
      schema_regex := regex;
      regex := '';
    else
      regex := regex || regexp_replace(case when quoted then letter else lower(letter) end,
                                       E'([][\\\\.*+?(){}|^$])', E'\\\\\\1');
    end if;
    previous := letter;
  end loop;
  return query
    select c.oid::regclass
      from pg_class c
      join pg_namespace n on n.oid = c.relnamespace
     where c.relkind in ('r', 'p')
       and c.relpersistence <> 't'
       and c.relname ~ ('^(' || regex || ')$')
       and case when schema_regex is null then c.oid = rowrelay.table_named(quote_ident(c.relname))
         else n.nspname ~ ('^(' || schema_regex || ')$') end
       and n.nspname not in ('pg_catalog', 'information_schema', 'rowrelay', 'rowrelay_target')
       and n.nspname !~ '^pg_toast'
       and not (wild and c.relispartition
                and not exists (select from rowrelay.capture k where k.relation = c.oid and k.released_at is null))
     order by n.nspname, c.relname;
end
$$;
