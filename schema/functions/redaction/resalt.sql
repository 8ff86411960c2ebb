-- Purpose:    gives a sealed change a new salt, so that its old hash does not help to guess the removed values
-- Parameters: change; the caller holds the lock of the chain of seals
-- Result:     the old salt and the new one; null: the change is not sealed
create or replace function rowrelay.resalt(change rowrelay.change, out old_salt bytea, out new_salt bytea)
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  seal  rowrelay.seal;
  place integer;
begin
  select s.* into seal from rowrelay.seal s where s.day = change.day and change.id between s.first_id and s.last_id;
  place := array_position(seal.ids, change.id);
  if place is null then
    return;
  end if;
  if seal.salts is null then
    select string_agg(sha256(seal.secret || int8send(u.id)), '' order by u.n) into seal.salts
      from unnest(seal.ids) with ordinality as u(id, n);
  end if;
  old_salt := substr(seal.salts, 32 * place - 31, 32);
  new_salt := sha256(uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()));
  update rowrelay.seal s
     set secret = null, salts = overlay(seal.salts placing new_salt from 32 * place - 31)
   where s.position = seal.position;
end
$$;
