-- Purpose:    returns SQL for what as_of() gives of a past row
-- Parameters: past
-- Result:     names: of the row's columns, behind the name p of the row; value: the row itself, or as JSON; text:
--             equal for equal rows
create or replace function rowrelay.past_shown(past rowrelay.past, out names text, out value text, out text text)
language plpgsql stable as $$
begin
  if past.is_shown is not true then
    value := format('row(p.*)::%s', (past.capture).relation);
    text := format('pg_catalog.concat(%s)', value); -- not a cast, which would be the table owner's code
    return;
  end if;
  select '(' || string_agg(quote_ident(c.name), ', ' order by c.number) || ')',
         format('(select pg_catalog.row_to_json(x.*) from (select %s) as x)',
                string_agg(format('%s as %I', case when c.is_image then format('p.%I', c.name)
                                                   else rowrelay.safe_json(format('p.%I', c.name), c.type) end, c.name),
                           ', ' order by c.number)),
         format('pg_catalog.concat(row(%s))',
                string_agg(case when c.is_image
                                then format('rowrelay.value_text(p.%I, %L, '''')', c.name,
                                            rowrelay.type_structure(a.atttypid, a.atttypmod))
                                else format('p.%I', c.name) end, ', ' order by c.number))
    into names, value, text
    from rowrelay.past_types(past) as c
    join pg_attribute a on a.attrelid = (past.capture).relation and a.attnum = c.number;
end
$$;
