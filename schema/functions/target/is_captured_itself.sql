-- Purpose:    whether a table that changes are to be written to is the one that they are captured of: that table itself, a
--             partition or a child, what it is a partition of, or a view of it
-- Parameters: capture; name of the table that is written to, which need not be there yet
create or replace function rowrelay.is_captured_itself(capture rowrelay.capture, into_table text) returns boolean
language plpgsql stable as $$
declare
  written  regclass;
begin
  begin
    -- who delivers has a search_path of his own, which the name is looked up by in the end
    written := coalesce(to_regclass(into_table),
                        case when cardinality(parse_ident(into_table)) = 1 then to_regclass('public.' || into_table) end);
  exception when others then -- it is no name of a table here, or nobody but its owner may ask for it
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
