-- Purpose:    returns a query for the rows of a writer's statement one by one, for what cannot be captured in one
--             statement. It is made of the present catalogs, as rowrelay.record_row() captures rows.
-- Parameters: capture id; TG_OP; TG_RELID; attempt: 1 looks at what the table has now; 2 does not, because that may
--             fail (columns that this transaction cannot see yet); 3 gives only the keys of rows that may be too large
--             for one value
-- Result:     a query that gives old_row and new_row, null where there is none; at: null, or the place of the new
--             version, which is one that nobody has if the row is another by now; is_large; for large ones old_key,
--             new_key, key_row
create or replace function rowrelay.statement_rows(capture_id integer, operation text, relation oid, attempt integer)
  returns text
language plpgsql stable set search_path = pg_catalog, pg_temp set jit = off as $$
declare
  -- as the caller will have its search_path
  name    constant text := (select format('%I.%I', n.nspname, c.relname)
                              from pg_class c join pg_namespace n on n.oid = c.relnamespace where c.oid = relation);
  capture rowrelay.capture;
  keys    smallint[];
  at      text := 'null';
  is_large text := 'false';
  old_key text := 'null';
  new_key text := 'null';
  key_row text := 'null';
begin
  if attempt <> 2 then
    select c.* into strict capture from rowrelay.capture c where c.id = capture_id;
    capture := rowrelay.renumbered(capture);
    keys := rowrelay.live_key(capture);
  end if;
  if attempt = 1 and cardinality(keys) > 0 and rowrelay.sees_rows(relation) then
    at := format('coalesce((select t.ctid from only %s as t where %s and t.* operator(pg_catalog.*=) new.* limit 1), '
                 '''(0,0)'')', name, rowrelay.same_key(capture, 't', 'new'));
  elsif attempt = 3 then
    old_key := rowrelay.key_expression(capture.relation, keys, 'old');
    new_key := rowrelay.key_expression(capture.relation, keys, 'new');
    key_row := rowrelay.key_row(capture);
    is_large := '(%s) is not true';
  end if;
  return (
    with side as (
      select s.side, format('select pg_catalog.row_number() over () as place, case when %s then null::%s else %s end '
                            'as row, %s as is_large, %s::pg_catalog.text as key, %s::pg_catalog.json as key_row, '
                            '%s::pg_catalog.tid as at from rowrelay_%s as %s',
                            format(is_large, coalesce(rowrelay.small_row(relation, s.side), 'true')), name,
                            format('%s.*::%s', s.side, name), -- a column may be named like the side
                            format(is_large, coalesce(rowrelay.small_row(relation, s.side), 'true')),
                            case s.side when 'old' then old_key else new_key end,
                            case s.side when 'old' then key_row else 'null' end,
                            case s.side when 'old' then 'null' else at end, s.side, s.side) as query
        from (values ('old'), ('new')) as s(side)
    )
    select case operation
             when 'INSERT' then format('select null::%s as old_row, n.row as new_row, n.is_large, '
                                       'null::pg_catalog.text '
                                       'as old_key, n.key as new_key, n.key_row, n.at from (%s) as n order by n.place',
                                       name, n.query)
             when 'DELETE' then format('select o.row as old_row, null::%s as new_row, o.is_large, o.key as old_key, '
                                       'null::pg_catalog.text as new_key, o.key_row, o.at from (%s) as o '
                                       'order by o.place', name, o.query)
             else format('select o.row as old_row, n.row as new_row, o.is_large or n.is_large as is_large, '
                         'o.key as old_key, n.key as new_key, o.key_row, n.at from (%s) as o full join (%s) as n '
                         'on n.place operator(pg_catalog.=) o.place order by n.place', o.query, n.query) end
      from side o, side n where o.side = 'old' and n.side = 'new');
end
$$;
