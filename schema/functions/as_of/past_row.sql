-- Purpose:    returns a condition for one row of a captured table by its key
-- Parameters: relation; key: as the log has it, the text of a single column, a JSON array of several
-- Result:     the key as the log spells it; condition on a row of the table called new
-- Errors:     the table is not captured or has no key; the key is not valid for its type
create or replace function rowrelay.past_row(relation regclass, inout key text, out condition text)
language plpgsql stable as $$
declare
  capture rowrelay.capture;
begin
  select c.* into capture from rowrelay.capture c where c.relation = past_row.relation order by c.id desc limit 1;
  if cardinality(rowrelay.live_key(capture)) = 0 then
    raise exception 'table % has no key', relation using errcode = 'invalid_parameter_value',
      hint = 'Query all of its rows: '
               || rowrelay.command('rowrelay log %s --as-of TIME', 'select * from rowrelay.as_of(null::%s, ''TIME'');',
                                   relation::text);
  end if;
  if rowrelay.has_domain_parts(relation, capture.key_columns)
     or rowrelay.has_text_cast(relation, capture.key_columns) then
    -- reading it would run code of the table's owner for who asks: it has to be spelled as in the log
    condition := format('%s = %L', rowrelay.key_expression(relation, capture.key_columns, 'new'), key);
  elsif capture.id is not null then
    execute format('select %s, format(''exists (select from %%s where %%s)'', $1, $2) from %s',
                   rowrelay.key_expression(relation, capture.key_columns, 'wanted'),
                     rowrelay.parsed_keys(capture, 'array[$3]'))
       into key, condition
      using rowrelay.parsed_keys(capture, format('array[%L]', key)), rowrelay.same_key(capture, 'new', 'wanted'), key;
  end if;
end
$$;
