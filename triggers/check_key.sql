-- Purpose:    refuses a key that several rows may have: they would be one row in a mirror
-- Parameters: relation; attribute numbers of the key that somebody chose; none is no key, and no matter
-- Result:     Warning: each partition keeps it unique by itself, which two of them together may not
-- Errors:     no unique index keeps it from that
create or replace function rowrelay.check_key(relation regclass, numbers smallint[]) returns void
language plpgsql stable as $$
declare
  guard text;
  names text;
begin
  if coalesce(cardinality(numbers), 0) = 0 then
    return;
  end if;
  guard := rowrelay.key_guard(relation, numbers);
  select string_agg(quote_ident(n), ', ') into names from unnest(rowrelay.attribute_names(relation, numbers)) as n;
  if guard = 'parts' then
    raise warning 'table %: each partition keeps the key (%) unique by itself, and rows of two partitions may share one',
      relation, names
      using hint = 'They would be one row in a target. rowrelay verify TARGET finds such rows.';
  elsif guard <> 'table' then
    raise exception 'nothing keeps the key (%) of table % unique', names, relation
      using errcode = 'invalid_parameter_value',
            detail = case guard when 'deferrable'
                       then 'Its unique constraint is deferrable: while it is deferred, two rows may have the same key.'
                       else 'Rows with the same key would be one row in a target.' end,
            hint = format('Make a unique index: create unique index on %s (%s); or leave the key out: then rows are told '
                          'apart by all they hold.', relation, names);
  end if;
end
$$;
