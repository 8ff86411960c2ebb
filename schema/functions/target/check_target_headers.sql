-- Purpose:    refuses headers that rowrelay sets itself, and those that hold a secret
-- Parameters: options of a target
-- Errors:     names the header
create or replace function rowrelay.check_target_headers(options jsonb) returns void
language plpgsql stable as $$
declare
  header record;
begin
  for header in
    select m[1] as name, m[2] as value from regexp_matches(options ->> 'headers', E'([!-9;-~]+):([^\\r\\n]*)', 'g') as m
  loop
    if header.name ~* '^(webhook-.*|content-length|transfer-encoding|host|connection|expect)$' then
      raise exception 'option headers must not set %', header.name
        using errcode = 'invalid_parameter_value', hint = 'rowrelay sets that header itself.';
    end if;
    if header.name ~* '(^authorization|^proxy-authorization|^cookie|[-_]key|token|secret|password)$'
       and header.value !~ E'\\$\\{[A-Za-z_][A-Za-z0-9_]*\\}' then
      raise exception 'option headers contains a secret in %', header.name
        using errcode = 'invalid_parameter_value',
              hint = 'Write ${NAME} and set NAME in the environment of rowrelay run.';
    end if;
  end loop;
end
$$;
