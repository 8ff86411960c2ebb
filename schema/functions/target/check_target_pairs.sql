-- Purpose:    refuses options of a target that exclude each other, or lack another one
-- Parameters: options, with the defaults of the target's kind
-- Errors:     name both options, and what to do
create or replace function rowrelay.check_target_pairs(in_force jsonb) returns void
language plpgsql immutable as $$
declare
  sasl   constant text := in_force ->> 'sasl';
  lacked constant text := (select n.name
                             from unnest(array['sasl_username', 'sasl_password', 'oauth_url'])
                                    with ordinality as n(name, place)
                            where in_force ->> n.name is null and (n.name <> 'oauth_url' or sasl = 'OAUTHBEARER')
                            order by n.place limit 1);
  excess text;
begin
  if in_force ->> 'body' is not null and (in_force ->> 'events')::integer > 1 then
    raise exception 'options body and events exclude each other' using errcode = 'invalid_parameter_value',
      hint = 'A request with option body carries one change: omit events or set it to 1.';
  end if;
  if in_force ->> 'format' = 'row' and in_force ->> 'tombstones' = 'false' then
    raise exception 'options format=row and tombstones=false exclude each other'
      using errcode = 'invalid_parameter_value',
            hint = 'With format=row a message without a value is all that tells of a deleted row.';
  end if;
  if in_force ->> 'schema' = 'true' and in_force ->> 'format' <> 'debezium' then
    raise exception 'option schema=true needs option format=debezium' using errcode = 'invalid_parameter_value';
  end if;
  if in_force ->> 'whole_transactions' = 'true' and in_force ->> 'format' <> 'debezium' then
    raise exception 'option whole_transactions=true needs option format=debezium'
      using errcode = 'invalid_parameter_value';
  end if;
  if in_force ->> 'whole_transactions' = 'true' and in_force ->> 'lanes' <> '1' then
    raise exception 'option whole_transactions=true needs option lanes=1' using errcode = 'invalid_parameter_value',
      hint = 'Only a target with one lane gets whole transactions; set lanes=1 when the target is added.';
  end if;
  if in_force ->> 'create_stream' = 'true' and in_force ->> 'stream' is null then
    raise exception 'option create_stream=true needs option stream' using errcode = 'invalid_parameter_value';
  end if;
  if sasl <> 'none' and lacked is not null then
    raise exception 'option sasl=% needs option %', sasl, lacked using errcode = 'invalid_parameter_value';
  end if;
  select n.name into excess
    from unnest(array['sasl_username', 'sasl_password', 'oauth_url', 'oauth_scope']) as n(name)
   where in_force ->> n.name is not null
     and (sasl = 'none' or n.name like 'oauth%' and sasl <> 'OAUTHBEARER') limit 1;
  if found then
    raise exception 'option % needs option sasl', excess using errcode = 'invalid_parameter_value',
      hint = case when excess like 'oauth%' then 'Set sasl=OAUTHBEARER.'
                  else 'Set sasl to the mechanism to log in by.' end;
  end if;
  select n.name into excess
    from unnest(array['ca_file', 'certificate', 'private_key', 'private_key_password']) as n(name)
   where in_force ->> n.name is not null and in_force ->> 'tls' = 'false' limit 1;
  if found then
    raise exception 'option % needs option tls=true', excess using errcode = 'invalid_parameter_value';
  end if;
end
$$;
