-- Purpose:    refuses options that a target does not have, and values that are not allowed
-- Parameters: url, options (null values are allowed: they reset an option)
-- Errors:     name what is wrong and what is allowed
create or replace function rowrelay.check_target_options(url text, options jsonb) returns void
language plpgsql stable as $$
declare
  kind   constant text    := (select k.name from rowrelay.target_kind(url) as k);
  itself constant boolean := url ~ '^postgres(ql)?:$';
  option record;
begin
  for option in
    select o.key as name, o.value, k.lowest, k.highest, k.is_secret, k.pattern, k.words, k.name is not null as is_known,
           exists (select from rowrelay.target_options() as a where a.name = o.key) as is_known_elsewhere
      from jsonb_each_text(options) as o
      left join rowrelay.target_options() as k
        on k.name = o.key and (k.kinds is null or kind = any (k.kinds)) and not (k.elsewhere and itself)
  loop
    if not option.is_known_elsewhere or option.value is not null and not option.is_known then
      raise exception 'option "%" does not exist%', option.name,
                      case when option.is_known_elsewhere then ' for this kind of target' else '' end
        using errcode = 'invalid_parameter_value',
              hint = format('%sOptions are %s.',
                            (select format('Only targets of kind %s have it. ', rowrelay.in_words(
                                             array_agg(distinct n order by n), 'and'))
                               from rowrelay.target_options() as k, unnest(k.kinds) as n
                              where k.name = option.name having count(*) > 0),
                            (select rowrelay.in_words(array_agg(k.name order by k.name collate "C"), 'and')
                               from rowrelay.target_options() as k
                              where (k.kinds is null or kind = any (k.kinds)) and not (k.elsewhere and itself)));
    end if;
    if option.value !~ option.pattern
       or option.lowest is not null and option.value::bigint not between option.lowest and option.highest then
      raise exception '% must be %, not "%"', option.name, option.words,
                      case when option.is_secret then '...' else option.value end
        using errcode = 'invalid_parameter_value';
    end if;
  end loop;
end
$$;
