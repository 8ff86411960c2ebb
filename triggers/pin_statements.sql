-- Purpose:    returns the statements of a trigger function that keep the session's settings from changing the text of
--             this table's values. A SET clause on the function would cost every writer about a microsecond per row; so
--             the function checks the settings, which costs next to nothing, changes those that are wrong, and restores
--             them. This happens in the guarded block, where an error undoes the change too. The statements are
--             assignments, because PERFORM is a query, and most sessions are not in UTC.
-- Parameters: relation; attribute numbers of columns whose text becomes key or lane
-- Result:     declarations, statements before and after; null when no column needs any
create or replace function rowrelay.pin_statements(relation regclass, key_columns smallint[], out declarations text,
                                                   out pin text, out unpin text)
language plpgsql stable as $$ -- rather than SQL, because its plan is kept
begin
  with numbered as (
    select n.*, format('set_%s', row_number() over (order by n.name)) as variable
      from rowrelay.pinned_settings(relation, key_columns) as n
  )
  select E'  pinned   key%type;\n' || string_agg(format('  %s    key%%type;', n.variable), E'\n' order by n.name),
         string_agg(concat_ws(E'\n',
           format('    if pg_catalog.current_setting(%L) operator(pg_catalog.<>) all (%L::pg_catalog.text[]) then',
                  n.name, n.good),
           format('      %s := pg_catalog.current_setting(%L);', n.variable, n.name),
           format('      pinned := pg_catalog.set_config(%L, %L, true);', n.name, n.wanted),
           '    end if;'), E'\n' order by n.name),
         string_agg(concat_ws(E'\n',
           format('    if %s is not null then', n.variable),
           format('      pinned := pg_catalog.set_config(%L, %s, true);', n.name, n.variable),
           '    end if;'), E'\n' order by n.name)
    into declarations, pin, unpin
    from numbered n;
end
$$;
