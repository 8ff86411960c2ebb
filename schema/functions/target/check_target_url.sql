-- Purpose:    refuses a target URL that cannot work or contains a password
-- Parameters: url
-- Errors:     say what is wrong and what to write
create or replace function rowrelay.check_target_url(url text) returns void
language plpgsql stable as $$
declare
  kind   record;
  rule   record;
  secret constant text := E'\\$\\{[A-Za-z_][A-Za-z0-9_]*\\}';
begin
  select k.* into kind from rowrelay.target_kind(url) as k;
  if not found then
    raise exception 'target URL "%" is not supported', url
      using errcode = 'invalid_parameter_value',
            hint = format('A URL begins with %s; http: may stand for https:.',
                          (select rowrelay.in_words(array_agg(s.scheme || ':' order by k.place, s.place), 'or')
                             from rowrelay.target_kinds() as k,
                                  unnest(k.shown_schemes) with ordinality as s(scheme, place)));
  end if;
  if not kind.is_path and (url ~ '^[a-z+]+://[^/?@]*:[^/?@]+@' and url !~ ('^[a-z+]+://[^/?@:]*:' || secret || '@')
                           or url ~ ('[?&](ssl)?password=(?!' || secret || '(&|$))')) then
    raise exception 'target URL contains a password'
      using errcode = 'invalid_parameter_value',
            hint = 'Keep it in ~/.pgpass or a service file, or write ${NAME} and set NAME in the environment of '
                   'rowrelay run.';
  end if;
  for rule in
    select r.value ->> 'pattern' as pattern, coalesce((r.value ->> 'forbidden')::boolean, false) as forbidden,
           r.value ->> 'problem' as problem, r.value ->> 'hint' as hint
      from jsonb_array_elements(kind.url_rules) with ordinality as r(value, place)
     order by r.place
  loop
    if (url ~ rule.pattern) = rule.forbidden then
      raise exception 'target URL "%" %', url, rule.problem
        using errcode = 'invalid_parameter_value', hint = replace(rule.hint, 'SCHEME', split_part(url, ':', 1));
    end if;
  end loop;
end
$$;
