-- Purpose:    whether rowrelay.seal_next() has anything to do
create or replace function rowrelay.seal_is_due() returns boolean
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
declare
  sealed_to date;
  ends_day  boolean;
begin
  if not exists (select from rowrelay.source s where s.seals) then
    return false;
  end if;
  select s.day, s.ends_day into sealed_to, ends_day from rowrelay.seal s where s.day is not null
    order by s.position desc limit 1;
  return not ends_day
      or exists (select from rowrelay.day d
                  where d.closed_at is not null and d.dropped_at is null and d.day > coalesce(sealed_to, '-infinity'))
      or exists (select from rowrelay.day d join rowrelay.seal s on s.day = d.day
                  where d.dropped_at is not null and d.archived_at is null and s.ids is not null);
end
$$;
