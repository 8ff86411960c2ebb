-- Purpose:    refuses a key that several rows may have: they would be one row in a mirror
-- Parameters: relation; attribute numbers of the chosen key; none: there is no key to check
-- Result:     Warns when each partition enforces uniqueness by itself, so that two of them may share a key
-- Errors:     no unique index covers it
create or replace function rowrelay.check_key(relation regclass, numbers smallint[]) returns void
language plpgsql stable as $$
declare
  guard text;
  names text;
  usual text; -- what identifies rows where no key is named
begin
  if coalesce(cardinality(numbers), 0) = 0 then
    return;
  end if;
  guard := rowrelay.key_guard(relation, numbers);
  select string_agg(quote_ident(n), ', ') into names from unnest(rowrelay.attribute_names(relation, numbers)) as n;
  if guard = 'parts' then
    raise warning 'table %: the key (%) is unique within each partition, but rows of two partitions may share one',
      relation, names
      using hint = 'They would be one row in a target. To find such rows: '
                   || rowrelay.verify_commands(relation, false);
  elsif guard <> 'table' then
    select '(' || string_agg(quote_ident(n), ', ') || ')' into usual
      from unnest(rowrelay.attribute_names(relation, rowrelay.key_of(relation))) as n;
    raise exception 'no unique index covers the key (%) of table %', names, relation
      using errcode = 'invalid_parameter_value',
            detail = case guard when 'deferrable'
                       then 'Its unique constraint is deferrable: while it is deferred, two rows may have the same key.'
                       else 'Rows with the same key would be one row in a target.' end,
            hint = format('Create one: create unique index on %s (%s); or omit the key: then rows are identified '
                          'by %s.',
                          relation, names, coalesce(usual, 'all of their values'));
  end if;
end
$$;
