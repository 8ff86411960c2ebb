-- Purpose:    returns the digest of the last seal. Keep it elsewhere (on paper, in another database) to prove later
--             that nobody has sealed the log again: pass it to rowrelay.verify_log() or `rowrelay verify-log --head`.
-- Result:     64 hexadecimal digits; null: nothing has been sealed yet
create or replace function rowrelay.seal_head() returns text
language sql stable set search_path = pg_catalog, pg_temp as $$
  select encode(s.digest, 'hex') from rowrelay.seal s order by s.position desc limit 1
$$;
