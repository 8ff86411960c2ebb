-- Purpose:    appends a seal to the chain. The caller holds the chain's lock: row 'seal' of rowrelay.mutex.
-- Parameters: seal, without position, time and digest
create or replace function rowrelay.add_seal(seal rowrelay.seal) returns void
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  previous bytea;
begin
  select s.position + 1, s.digest into seal.position, previous from rowrelay.seal s order by s.position desc limit 1;
  seal.position := coalesce(seal.position, 1);
  seal.sealed_at := clock_timestamp();
  seal.digest := rowrelay.seal_digest(seal, previous);
  insert into rowrelay.seal select seal.*;
end
$$;
