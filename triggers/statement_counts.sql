-- Purpose:    returns the statements of rowrelay.statement_body() that count the rows, and find out whether there are
--             few and small ones, whose images cannot fail, whether an update changed keys, and whether a key is null
-- Parameters: capture; few: how many rows at most are looked at one by one
create or replace function rowrelay.statement_counts(capture rowrelay.capture, few integer) returns text
language plpgsql stable as $$
declare
  relation     constant regclass := capture.relation;
  key_columns  constant smallint[] := rowrelay.live_key(capture);
  keeps_before constant boolean := rowrelay.keeps_before(capture);
  new_is_small text;
  old_is_small text;
  rekeyed      text;
  new_nulls    constant text := format('coalesce(pg_catalog.bool_or(not (%s)), false)',
                                       rowrelay.has_key(relation, key_columns, 'new'));
  old_nulls    constant text := format('coalesce(pg_catalog.bool_or(not (%s)), false)',
                                       rowrelay.has_key(relation, key_columns, 'old'));
  either_nulls constant text := format('%s or exists (select from rowrelay_old as old where not (%s))', new_nulls,
                                       rowrelay.has_key(relation, key_columns, 'old'));
begin
  select concat_ws(' and ', rowrelay.small_row(relation, 'new'),
                   '(' || string_agg(format(w.condition, format('new.%I', w.name)), ' or ') || ') is not true')
    into new_is_small from rowrelay.awkward_columns(relation) as w;
  old_is_small := case when keeps_before then coalesce(rowrelay.small_row(relation, 'old'), '') else '' end;
  -- arrays are equal where all keys are, in their order
  select string_agg(format('(select pg_catalog.array_agg(%s) from rowrelay_new as new) operator(pg_catalog.<>) '
                           '(select pg_catalog.array_agg(%s) from rowrelay_old as old)',
                           rowrelay.plain_value('new', a.attname, a.atttypid),
                           rowrelay.plain_value('old', a.attname, a.atttypid)), E'\n        or ' order by a.attnum)
    into rekeyed
    from pg_attribute a where a.attrelid = relation and a.attnum = any (key_columns);

  return concat_ws(E'\n',
           '    if tg_op operator(pg_catalog.=) ''DELETE'' then',
    format('      select pg_catalog.count(*), %s, %s into counted, is_small, is_keyless',
           case when old_is_small <> '' then format('coalesce(pg_catalog.bool_and(%s), true)', old_is_small)
                else 'true' end, old_nulls),
    format('        from (select * from rowrelay_old as t limit %s) as old;', few + 1),
           '    elsif tg_op operator(pg_catalog.=) ''INSERT'' then',
    format('      select pg_catalog.count(*), %s, %s into counted, is_small, is_keyless',
           case when new_is_small <> '' then format('coalesce(pg_catalog.bool_and(%s), true)', new_is_small)
                else 'true' end, new_nulls),
    format('        from (select * from rowrelay_new as t limit %s) as new;', few + 1),
           '    else',
    format('      select pg_catalog.count(*), %s, %s into counted, is_small, is_keyless',
           case when new_is_small <> '' then format('coalesce(pg_catalog.bool_and(%s), true)', new_is_small)
                else 'true' end, either_nulls),
    format('        from (select * from rowrelay_new as t limit %s) as new;', few + 1),
    case when old_is_small <> '' then concat_ws(E'\n',
    format('      is_small := is_small and (select coalesce(pg_catalog.bool_and(%s), true)', old_is_small),
    format('        from (select * from rowrelay_old as t limit %s) as old);', few + 1)) end,
           '    end if;',
           '    if counted operator(pg_catalog.=) 0 then',
           '      return null;',
           '    end if;',
    format('    if counted operator(pg_catalog.>) %s then', few),
           '      is_small := false;',
           '      if tg_op operator(pg_catalog.=) ''DELETE'' then',
    format('        select pg_catalog.count(*), %s into counted, is_keyless from rowrelay_old as old;', old_nulls),
           '      elsif tg_op operator(pg_catalog.=) ''INSERT'' then',
    format('        select pg_catalog.count(*), %s into counted, is_keyless from rowrelay_new as new;', new_nulls),
           '      else',
    case when keeps_before then
    format('        select pg_catalog.count(*), %s into counted, is_keyless from rowrelay_new as new;', either_nulls)
         else rowrelay.statement_keys(relation, key_columns) end,
           '      end if;',
    case when not keeps_before then concat_ws(E'\n',
           '    elsif tg_op operator(pg_catalog.=) ''UPDATE'' then',
    format('      is_other := %s;', rekeyed)) end,
           '    end if;');
end
$$;
