-- Purpose:    refuses to send two tables or documents into one index of a search engine or one table of ClickHouse.
--             Does nothing for any other target.
-- Parameters: target that the tables or documents go to
-- Errors:     two of them would share an index; a table has no key; a name has no letter that an index may have
create or replace function rowrelay.check_indexes(target integer) returns void
language plpgsql as $$
declare
  destination rowrelay.target;
  found_one   record;
begin
  select t.* into destination from rowrelay.target t where t.id = check_indexes.target;
  if destination.url !~ E'^(elasticsearch|opensearch|clickhouse)\\+' then
    return;
  end if;
  for found_one in
    select s.index, array_agg(s.name order by s.name) as names, bool_or(s.keyless) as keyless, s.index_is_told
      from (select coalesce(u.index, rowrelay.index_name(r.into_table)) as index, u.index is not null as index_is_told,
                   coalesce(rowrelay.full_name(c.relation), c.relation_name) as name,
                   cardinality(c.key_columns) = 0 as keyless
              from rowrelay.route r
              join rowrelay.capture c on c.id = r.capture
              left join rowrelay.document d on d.target = r.target
              cross join lateral (select substring(destination.url
                                                   from '^[a-z+]+://[^/?#]+/(?:[^?#]*/)?([^/?#]+)(?:[?#].*)?$'))
                                                     as u(index)
             where r.until_id is null and (c.released_at is null or d.target is not null)
               and (r.target = destination.id or d.delivers_to = destination.id)) as s
     group by s.index, s.index_is_told
  loop
    if found_one.index = '' then
      raise exception 'the name of % has no letter that an index may have', found_one.names[1]
        using errcode = 'invalid_parameter_value',
              hint = 'Name it with ' || rowrelay.command('option --into', 'parameter into_table') || '.';
    end if;
    if found_one.keyless and destination.url !~ '^clickhouse' then
      raise exception 'table % has no key to identify its rows in an index', found_one.names[1]
        using errcode = 'invalid_parameter_value',
          hint = 'Name columns that identify a row: '
                   || rowrelay.command('rowrelay capture %s --key COLUMNS',
                                       'select rowrelay.capture_table(%L, key => ''{COLUMNS}'');', found_one.names[1]);
    end if;
    if cardinality(found_one.names) > 1 then
      raise exception '% "%" cannot be both % and %', case when destination.url ~ '^clickhouse' then 'table'
        else 'index' end, found_one.index, found_one.names[1], found_one.names[2]
        using errcode = 'invalid_parameter_value',
              hint = case when destination.url ~ '^clickhouse' then 'Add a target for each of them.'
                          when found_one.index_is_told
                          then 'Add a target whose URL ends with a slash: then each table has an index of its own.'
                          else 'Give one of them another name with '
                                 || rowrelay.command('option --into', 'parameter into_table') || '.' end;
    end if;
  end loop;
end
$$;
