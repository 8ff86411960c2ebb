-- Purpose:    returns the statement that enables a trigger in one of PostgreSQL's ways
-- Parameters: relation; name of the trigger; state, as in pg_trigger
create or replace function rowrelay.trigger_setting(relation regclass, name text, state "char") returns text
language sql stable as $$
  select format('alter table %s %s trigger %I', relation,
                case state when 'A' then 'enable always' when 'R' then 'enable replica' when 'O' then 'enable'
                           else 'disable' end, name)
$$;
