-- Purpose:    whether the table that receives changes is the captured one: that table itself, a partition or a child of
--             it, a table that it is a partition of, or a view of it
-- Parameters: capture; name of the table that is written to, which need not exist yet
create or replace function rowrelay.is_captured_itself(capture rowrelay.capture, into_table text) returns boolean
language plpgsql stable as $$
declare
  written  regclass;
begin
  begin
    -- The delivering process looks the name up by another search_path.
    written := coalesce(to_regclass(into_table),
                        case when cardinality(parse_ident(into_table)) = 1 then to_regclass('public.'
                            || into_table) end);
  exception when others then -- not the name of a table here, or one that the caller may not look up
    return false;
  end;
  return exists (
    with recursive reached(relation) as (
      select written::oid
      union
      select u.relation
        from reached r
       cross join lateral (
         select i.inhrelid as relation from pg_inherits i where i.inhparent = r.relation
         union all
         select rowrelay.read_tables(v.oid)::oid from pg_class v where v.oid = r.relation and v.relkind = 'v') as u
    )
    select from reached r where r.relation = any (rowrelay.captured_tables(capture)::oid[]));
end
$$;
