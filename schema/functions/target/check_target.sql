-- Purpose:    refuses a URL or options that could not work, before anything is stored
-- Parameters: url, options (null values are allowed: they reset an option)
-- Errors:     each names what is wrong and what is possible
create or replace function rowrelay.check_target(url text, options jsonb) returns void
language plpgsql as $$
declare
  scheme constant text := substring(url from E'^((?:[a-z]+\\+)?[a-z]+):');
  kind   constant text := case
                            when scheme in ('postgres', 'postgresql') then 'postgresql'
                            when scheme in ('file', 'stdout') then 'lines'
                            when scheme in ('https', 'http') then 'webhook'
                            when scheme ~ E'^(elasticsearch|opensearch)\\+https?$' then 'search'
                            when scheme ~ E'^(ndjson|clickhouse)\\+https?$' then 'http lines'
                          end;
  secret constant text := E'\\$\\{[A-Za-z_][A-Za-z0-9_]*\\}';
  option       record;
  lease        integer;
  push_timeout integer;
begin
  if kind is null then
    raise exception 'target URL "%" is of no known kind', url
      using errcode = 'invalid_parameter_value',
            hint = 'A URL begins with postgresql:, https:, elasticsearch+https:, opensearch+https:, clickhouse+https:, ndjson+https: '
                   '(each with http: too), file: or stdout:.';
  end if;
  if kind <> 'lines' and (url ~ '^[a-z+]+://[^/?@]*:[^/?@]+@' and url !~ ('^[a-z+]+://[^/?@:]*:' || secret || '@')
                          or url ~ ('[?&](ssl)?password=(?!' || secret || '(&|$))')) then
    raise exception 'target URL holds a password'
      using errcode = 'invalid_parameter_value',
            hint = 'Keep it in ~/.pgpass or a service file, or write ${NAME} and set NAME in the environment of rowrelay run.';
  end if;
  -- More would not fit into a running process, which would have to stop.
  if octet_length(url) > 2000 then
    raise exception 'the target''s URL is longer than 2000 bytes' using errcode = 'invalid_parameter_value';
  end if;
  if octet_length(options::text) > 16000 then
    raise exception 'the target''s options are longer than 16000 bytes'
      using errcode = 'invalid_parameter_value', hint = 'Put long expressions into a function.';
  end if;
  if url ~ '^file:$' then
    raise exception 'target URL "file:" names no file'
      using errcode = 'invalid_parameter_value', hint = 'Write file:PATH, such as file:/var/log/changes.jsonl.';
  end if;
  if kind = 'postgresql' and url !~ '^[a-z]+:(//.*)?$' then
    raise exception 'target URL "%" names no database', url
      using errcode = 'invalid_parameter_value',
            hint = 'Write postgresql://HOST/DATABASE, or postgresql: for the source itself.';
  end if;
  if kind in ('webhook', 'search', 'http lines') and url !~ '^[a-z+]+://[^/?#]+' then
    raise exception 'target URL "%" names no host', url
      using errcode = 'invalid_parameter_value', hint = format('Write %s://HOST/PATH.', scheme);
  end if;
  if kind = 'search' and url ~ '[?#]' then
    raise exception 'target URL "%" has parameters, which a search engine''s cannot have', url
      using errcode = 'invalid_parameter_value', hint = format('Write %s://HOST:9200/INDEX, or only %1$s://HOST:9200/.', scheme);
  end if;
  if kind = 'search' and substring(url from '[^/]/(?:.*/)?([^/]*)$') ~ '[A-Z]' and url !~ E'\\$\\{[^/]*$' then
    raise exception 'target URL "%" names an index with a capital letter', url
      using errcode = 'invalid_parameter_value', hint = 'A search engine wants the names of indexes in lower case.';
  end if;
  if scheme ~ '^clickhouse' and url !~ '^[a-z+]+://[^/?#]+/[^/?#]+' then
    raise exception 'target URL "%" names no table', url
      using errcode = 'invalid_parameter_value', hint = format('Write %s://HOST:8123/DATABASE.TABLE.', scheme);
  end if;

  for option in
    select o.key as name, o.value, k.kinds, k.pattern, k.least, k.most, k.words
      from jsonb_each_text(options) as o
      left join (values
        -- for which kinds; what it looks like; bounds of a number; what it is, for the message
        ('mode',             '{postgresql}', '^(mirror|append)$', null, null, 'mirror or append'),
        ('on_error',         null,           '^(park|block|halt)$', null, null, 'park, block or halt'),
        ('lanes',            null,           E'^\\d{1,9}$', 1, 1024, 'a number from 1 to 1024'),
        ('batch_rows',       null,           E'^\\d{1,9}$', 1, 100000, 'a number of rows from 1 to 100000'),
        ('batch_bytes',      null,           E'^\\d{1,9}$', 1024, 268435456, 'a number of bytes from 1024 to 268435456'),
        ('retries',          null,           E'^\\d{1,9}$', 0, 1000, 'a number from 0 to 1000'),
        ('claim',            null,           '^(transaction|lease)$', null, null, 'transaction or lease'),
        ('lease',            null,           E'^\\d{1,9}$', 1, 86400, 'a number of seconds from 1 to 86400'),
        ('guarantee',        null,           '^at-(least|most)-once$', null, null, 'at-least-once or at-most-once'),
        ('push_timeout',     null,           E'^\\d{1,9}$', 1, 86400, 'a number of seconds from 1 to 86400'),
        ('concurrency',      '{webhook}',    E'^\\d{1,9}$', 1, 256, 'a number of requests in flight from 1 to 256'),
        ('events',           '{webhook}',    E'^\\d{1,9}$', 1, 1000, 'a number of events in a request from 1 to 1000'),
        ('timeout',          '{webhook,search,http lines}',    E'^\\d{1,9}$', 1, 3600, 'a number of seconds from 1 to 3600'),
        ('method',           '{webhook}',    '^(POST|PUT|PATCH)$', null, null, 'POST, PUT or PATCH'),
        ('headers',          '{webhook,search,http lines}',    E'^[!-9;-~]+:[^\\r\\n]*([\\r\\n]+[!-9;-~]+:[^\\r\\n]*)*[\\r\\n]*$', null, null, 'one "Name: value" a line'),
        ('body',             '{webhook}',    E'\\S', null, null, 'an SQL expression'),
        ('secret',           '{webhook}',    E'^\\s*' || secret || E'(\\s+' || secret || E')*\\s*$', null, null,
           '${NAME}, which is filled from the environment of rowrelay run; several while one replaces another'),
        ('http2',            '{webhook,search,http lines}',    '^(true|false)$', null, null, 'true or false'),
        ('follow_redirects', '{webhook,search,http lines}',    '^(true|false)$', null, null, 'true or false'),
        ('ca_file',          '{webhook,search,http lines}',    '^/', null, null, 'the absolute path of a file where rowrelay run runs'),
        ('certificate',      '{webhook,search,http lines}',    '^/', null, null, 'the absolute path of a file where rowrelay run runs'),
        ('private_key',      '{webhook,search,http lines}',    '^/', null, null, 'the absolute path of a file where rowrelay run runs'),
        ('bulk_bytes',       '{search}',     E'^\\d{1,9}$', 1024, 104857600, 'a number of bytes in a request from 1024 to 104857600'),
        ('gzip',             '{search}',     '^(true|false)$', null, null, 'true or false'),
        ('api_key',          '{search}',     '^' || secret || '$', null, null, '${NAME}, which is filled from the environment of rowrelay run'),
        ('proxy',            '{webhook,search,http lines}',    '^(https?|socks5h?)://([^/?#@:]*(:' || secret || ')?@)?[^/?#@]+/?$', null, null,
           'a URL such as http://HOST:PORT; a password is written as ${NAME}, which is filled from the environment of rowrelay run')
      ) as k(name, kinds, pattern, least, most, words) on k.name = o.key
  loop
    if option.pattern is null or option.value is not null and kind <> all (option.kinds::text[])
       or option.name in ('claim', 'guarantee', 'lease') and url ~ '^postgres(ql)?:$' then
      raise exception 'option "%" is not known%', option.name, case when option.pattern is null then '' else ' to such a target' end
        using errcode = 'invalid_parameter_value',
              hint = case kind
                       when 'postgresql' then 'Options are batch_bytes, batch_rows, claim, guarantee, lanes, lease, mode, on_error, push_timeout and retries.'
                       when 'search' then 'Options are api_key, batch_bytes, batch_rows, bulk_bytes, ca_file, certificate, claim, follow_redirects, guarantee, gzip, '
                                          'headers, http2, lanes, lease, on_error, private_key, proxy, push_timeout, retries and timeout.'
                       when 'http lines' then 'Options are batch_bytes, batch_rows, ca_file, certificate, claim, follow_redirects, guarantee, headers, http2, lanes, lease, '
                                              'on_error, private_key, proxy, push_timeout, retries and timeout.'
                       when 'webhook' then 'Options are batch_bytes, batch_rows, body, ca_file, certificate, claim, concurrency, events, '
                                           'follow_redirects, guarantee, headers, http2, lanes, lease, method, on_error, private_key, proxy, push_timeout, '
                                           'retries, secret and timeout.'
                       else 'Options are batch_bytes, batch_rows, claim, guarantee, lanes, lease, on_error, push_timeout and retries.'
                     end;
    end if;
    continue when option.value is null;
    if option.value !~ option.pattern
       or option.least is not null and option.value::bigint not between option.least and option.most then
      raise exception 'option % is "%"', option.name,
                      case when option.name in ('secret', 'headers', 'api_key', 'proxy') then '...' else option.value end
        using errcode = 'invalid_parameter_value', hint = format('%s is %s.', option.name, option.words);
    end if;
  end loop;
  for option in
    select m[1] as name, m[2] as value from regexp_matches(options ->> 'headers', E'([!-9;-~]+):([^\\r\\n]*)', 'g') as m
  loop
    if option.name ~* '^(webhook-.*|content-length|transfer-encoding|host|connection|expect)$' then
      raise exception 'option headers sets %', option.name
        using errcode = 'invalid_parameter_value', hint = 'rowrelay sets that header itself.';
    end if;
    if option.name ~* '(^authorization|^proxy-authorization|^cookie|[-_]key|token|secret|password)$' and option.value !~ secret then
      raise exception 'option headers holds a secret, in %', option.name
        using errcode = 'invalid_parameter_value',
              hint = 'Write ${NAME} and set NAME in the environment of rowrelay run.';
    end if;
  end loop;
  lease := coalesce(options ->> 'lease', '120');
  push_timeout := coalesce(options ->> 'push_timeout', '60');
  -- Else others might claim what is on its way still.
  if (options ->> 'claim' = 'lease' or options ->> 'guarantee' = 'at-most-once') and lease <= push_timeout then
    raise exception 'option lease is %, and option push_timeout %: a lease has to be longer than a push may take', lease, push_timeout
      using errcode = 'invalid_parameter_value',
            hint = format('Set lease to more than %s, better %s, or push_timeout to less than %s.', push_timeout, 2 * push_timeout, lease);
  end if;
  if options ->> 'body' is not null and coalesce((options ->> 'events')::integer, 1) > 1 then
    raise exception 'options body and events exclude each other' using errcode = 'invalid_parameter_value',
      hint = 'A body of your own is sent for one change at a time.';
  end if;
end
$$;
