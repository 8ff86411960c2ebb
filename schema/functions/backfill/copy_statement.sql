-- Purpose:    returns the statement that copies all rows of a captured table out, with the values that the trigger's
--             images have
-- Parameters: capture; names of columns; condition on a row called new, beside that of the capture (null: none)
-- Result:     COPY ... TO STDOUT
-- Errors:     the table has a row filter and has lost its triggers
create or replace function rowrelay.copy_statement(capture rowrelay.capture, columns text[], condition text)
  returns text
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  masks     constant json := (select i.masks from rowrelay.image_columns(capture) as i);
  is_simple boolean := condition is null and capture.row_filter is null and masks::text = '{}';
  shown     text;
begin
  is_simple := is_simple and exists (select from pg_class c where c.oid = capture.relation and c.relkind = 'r')
               and not exists (select from pg_inherits i where i.inhparent = capture.relation)
               and not exists (select from pg_attribute a where a.attrelid = capture.relation and a.attgenerated <> '');
  if is_simple then
    -- faster than a query
    return format('copy %s (%s) to stdout', rowrelay.full_name(capture.relation),
                  (select string_agg(format('%I', name), ', ') from unnest(columns) as name));
  end if;
  select string_agg(case
           when m.value is null then format('new.%I', u.name)
           when json_typeof(m.value) = 'null' then 'null'
           when rowrelay.base_type(a.atttypid) in ('json'::regtype, 'jsonb'::regtype) then quote_literal(m.value::text)
           else quote_literal(m.value #>> '{}') end, ', ' order by u.position)
    into shown
    from unnest(columns) with ordinality as u(name, position)
    join pg_attribute a on a.attrelid = capture.relation and a.attname = u.name and not a.attisdropped
    left join json_each(masks) as m on m.key = a.attname;
  return format('copy (select %s from %s as new where %s) to stdout', shown, rowrelay.full_name(capture.relation),
                coalesce(nullif(concat_ws(' and ', '(' || condition || ')', rowrelay.filter_condition(capture)),
                                ''), 'true'));
end
$$;
