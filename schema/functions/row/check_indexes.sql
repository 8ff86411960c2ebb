-- Purpose:    refuses to send two tables or documents into one index of a search engine or one table of ClickHouse; or
--             into one topic, stream, subject or routing key that is named like the table, because characters that
--             such a name may not have become "_". A topic for all, or --into, puts them together on purpose. Does
--             nothing for any other target.
-- Parameters: target that the tables or documents go to
-- Errors:     two of them would share it; a table has no key; a name has no letter that an index may have
create or replace function rowrelay.check_indexes(target integer) returns void
language plpgsql as $$
declare
  destination rowrelay.target;
  found_one   record;
begin
  select t.* into destination from rowrelay.target t where t.id = check_indexes.target;
  if destination.url ~ '^(kafka|rediss?|nats([+]tls)?|amqps?):' then
    -- replicator/targets/channel_name.c must give the same names
    if strpos(case when destination.url ~ '^amqp' then coalesce(destination.options ->> 'routing_key', '{table}')
                   when destination.url ~ '^redis' then
                     coalesce(nullif(regexp_replace(destination.url, '^[^/]+//[^/]+(/[0-9]+(?=/|$))?/?', ''), ''),
                              '{table}')
                   else coalesce(nullif(substring(destination.url from '^[^/]+//[^/]+/(.*)$'), ''), '{table}') end,
              '{table}') = 0 then
      return;
    end if;
    for found_one in
      select n.channel, array_agg(n.name order by n.name) as names
        from (select regexp_replace(replace(r.into_table, '"', ''), '[^a-zA-Z0-9._-]', '_', 'g') as channel,
                     min(coalesce(rowrelay.full_name(c.relation), c.relation_name)) as name
                from rowrelay.route r
                join rowrelay.capture c on c.id = r.capture
                left join rowrelay.document d on d.target = r.target
               where r.until_id is null and (c.released_at is null or d.target is not null)
                 and (r.target = destination.id or d.delivers_to = destination.id)
               group by r.into_table) as n
       group by n.channel having count(*) > 1
    loop
      raise exception '% and % would both go to "%"', found_one.names[1], found_one.names[2], found_one.channel
        using errcode = 'invalid_parameter_value',
              detail = 'A name there has letters, digits, ".", "_" and "-" of ASCII; all else becomes "_".',
              hint = 'Give one of them another name with '
                       || rowrelay.command('option --into', 'parameter into_table') || '.';
    end loop;
    return;
  end if;
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
