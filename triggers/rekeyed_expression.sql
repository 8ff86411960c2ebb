-- Purpose:    returns SQL for whether an update changed the key of a row
-- Parameters: capture
-- Result:     a condition on the rows "new" and "old", null if one of them is missing; null when there is no key
create or replace function rowrelay.rekeyed_expression(capture rowrelay.capture) returns text
language plpgsql stable as $$
declare
  key_columns constant smallint[] := rowrelay.live_key(capture);
begin
  -- Equal keys have equal texts where the type is exact, and comparing values is cheaper.
  return (
    select case when capture.key_is_exact
                then string_agg(format('%s operator(pg_catalog.<>) %s',
                                       rowrelay.plain_value('new', a.attname, a.atttypid),
                                       rowrelay.plain_value('old', a.attname, a.atttypid)), ' or ' order by u.position)
                else format('(%s) collate pg_catalog."C" operator(pg_catalog.<>) (%s) collate pg_catalog."C"',
                            rowrelay.key_expression(capture.relation, key_columns, 'new'),
                            rowrelay.key_expression(capture.relation, key_columns, 'old')) end
      from unnest(key_columns) with ordinality as u(number, position)
      join pg_attribute a on a.attrelid = capture.relation and a.attnum = u.number and not a.attisdropped);
end
$$;
