-- Purpose:    trigger function of a trigger that is never enabled: PostgreSQL refuses to make a table with a row
--             trigger that has a transition table a partition or an inheritance child, and says why. The statement
--             triggers of such a table would not be fired by all writes to it.
-- Parameters: TG_ARGV[0]: capture id
create or replace function rowrelay.stand_alone() returns trigger
language plpgsql as $$
begin
  return null;
end
$$;
