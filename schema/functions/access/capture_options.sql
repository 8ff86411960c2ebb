-- Purpose:    returns the options that a captured table had, for who captures the one that has taken its place
-- Parameters: capture
-- Result:     in_shell: options of "rowrelay capture", each with a blank before it; in_sql: parameters of
--             rowrelay.capture_table(), each with a comma before it; null where it had none
create or replace function rowrelay.capture_options(capture rowrelay.capture, out in_shell text, out in_sql text)
language sql stable as $$
  with columns(place, name, names) as (
    select 1, 'key', case when capture.key_is_chosen then capture.key_names end
    union all
    select 2, 'lane', case when capture.lane_columns is not null
                           then array(select capture.column_names[u.number]
                                        from unnest(capture.lane_columns) with ordinality as u(number, place)
                                       order by u.place) end
    union all select 3, 'columns', capture.only_names
    union all select 4, 'exclude', nullif(capture.exclude_names, '{}')
  ), option(place, in_shell, in_sql) as (
    select c.place,
           format('--%s %s', c.name,
                  rowrelay.shell_word((select coalesce(string_agg(format('%I', u.name), ',' order by u.place), '')
                                         from unnest(c.names) with ordinality as u(name, place)))),
           format('%s => %L', c.name, c.names)
      from columns c where c.names is not null
    union all
    select 5, string_agg('--mask ' || rowrelay.shell_word(format('%I', m.key)
                                        || coalesce('="' || replace(m.value, '"', '""') || '"', '')), ' '
                      order by m.key),
           format('mask => %L', capture.mask_names)
      from jsonb_each_text(capture.mask_names) as m having count(*) > 0
    union all
    select 6, '--where ' || rowrelay.shell_word(capture.row_filter), format('row_filter => %L', capture.row_filter)
     where capture.row_filter is not null
    union all
    select 7, '--before', format('before => %L', capture.before) where capture.before <> 'none'
    union all
    select 8, '--capture-origin', 'capture_origin => true' where capture.capture_origin
    union all
    select 9, '--per ' || capture.per, format('per => %L', capture.per) where capture.per <> 'row'
  )
  select string_agg(' ' || o.in_shell, '' order by o.place), string_agg(', ' || o.in_sql, '' order by o.place)
    from option o
$$;
