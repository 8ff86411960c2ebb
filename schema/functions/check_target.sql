-- Purpose:    refuses a URL or options that could not work, before anything is stored
-- Parameters: url, options (null values are allowed: they reset an option)
-- Errors:     each names what is wrong and what is possible
create or replace function rowrelay.check_target(url text, options jsonb) returns void
language plpgsql as $$
declare
  option text;
  value  text;
begin
  if url !~ '^(postgres|postgresql|file|stdout):' then
    raise exception 'target URL "%" is of no known kind', url
      using errcode = 'invalid_parameter_value',
            hint = 'A URL begins with postgresql:, file: or stdout:.';
  end if;
  if url ~ '^postgres(ql)?://[^/?@]*:[^/?@]+@' and url !~ '^postgres(ql)?://[^/?@:]*:\$\{[A-Za-z_][A-Za-z0-9_]*\}@'
     or url ~ '[?&](ssl)?password=(?!\$\{[A-Za-z_][A-Za-z0-9_]*\}(&|$))' then
    raise exception 'target URL holds a password'
      using errcode = 'invalid_parameter_value',
            hint = 'Keep it in ~/.pgpass or a service file, or write ${NAME} and set NAME in the environment of rowrelay run.';
  end if;
  if url ~ '^file:$' then
    raise exception 'target URL "file:" names no file'
      using errcode = 'invalid_parameter_value', hint = 'Write file:PATH, such as file:/var/log/changes.jsonl.';
  end if;

  for option, value in select * from jsonb_each_text(options) loop
    case option
    when 'mode' then
      if value not in ('mirror', 'append') then
        raise exception 'option mode is "%"', value
          using errcode = 'invalid_parameter_value', hint = 'mode is mirror or append.';
      end if;
    when 'on_error' then
      if value not in ('park', 'block', 'halt') then
        raise exception 'option on_error is "%"', value
          using errcode = 'invalid_parameter_value', hint = 'on_error is park, block or halt.';
      end if;
    when 'lanes', 'batch_rows', 'batch_bytes', 'retries', 'push_timeout' then
      if value !~ '^[0-9]{1,9}$'
         or (value::integer not between
               case option when 'retries' then 0 when 'batch_bytes' then 1024 else 1 end and
               case option when 'lanes' then 1024 when 'batch_rows' then 100000 when 'retries' then 1000
                           when 'push_timeout' then 86400 else 256 * 1024 * 1024 end) then
        raise exception 'option % is "%"', option, value
          using errcode = 'invalid_parameter_value',
                hint = case option
                         when 'lanes' then 'lanes is a number from 1 to 1024.'
                         when 'batch_rows' then 'batch_rows is a number of rows from 1 to 100000.'
                         when 'batch_bytes' then 'batch_bytes is a number of bytes from 1024 to 268435456.'
                         when 'retries' then 'retries is a number from 0 to 1000.'
                         else 'push_timeout is a number of seconds from 1 to 86400.' end;
      end if;
    else
      raise exception 'option "%" is not known', option
        using errcode = 'invalid_parameter_value',
              hint = 'Options are batch_bytes, batch_rows, lanes, mode, on_error, push_timeout and retries.';
    end case;
  end loop;
end
$$;
