-- Purpose:    refuses a key that rows of a table and of its inheritance children share: a mirror would have one
--             row for all of them. Later duplicates are found when they are written (rowrelay.nesting_statements).
-- Parameters: capture; condition on rows called new that count (null: all)
-- Errors:     names a key and the tables with rows of that key
create or replace function rowrelay.check_children(capture rowrelay.capture, condition text default null)
  returns void
language plpgsql as $$
declare
  shared record;
begin
  if cardinality(capture.key_columns) = 0 or not rowrelay.has_children(capture.relation) then
    return;
  end if;
  execute format(
    'select min(%1$s) as key, array_agg(distinct new.tableoid::regclass) as tables from %2$s as new where %4$s '
    'group by %3$s having count(*) > 1 limit 1',
    rowrelay.key_expression(capture.relation, capture.key_columns, 'new'), capture.relation,
    (select string_agg(format('new.%I', name), ', ')
       from unnest(rowrelay.attribute_names(capture.relation, capture.key_columns)) as name),
    coalesce(condition, 'true'))
     into shared;
  if shared.key is not null then
    raise exception 'table % and its inheritance children have several rows with the key %', capture.relation,
      shared.key
      using errcode = 'unique_violation', detail = format('They are in %s.', array_to_string(shared.tables, ' and ')),
            hint = format('A unique index does not cover a table''s children. Name columns that identify a row in all '
                          'of them, or capture the table without a key: %s',
                          rowrelay.command('rowrelay capture %s --key ""',
                                           'select rowrelay.capture_table(%L, key => ''{}'');',
                                           capture.relation::text));
  end if;
end
$$;
