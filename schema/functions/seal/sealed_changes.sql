-- Purpose:    returns what a seal says of each of its changes, updated by later redactions
-- Parameters: seal
-- Result:     change id, capture, salt, and the hash that the change must have; null: the records of redactions
--             contradict each other
create or replace function rowrelay.sealed_changes(seal rowrelay.seal)
returns table (id bigint, capture integer, salt bytea, hash bytea)
language sql stable set search_path = pg_catalog, pg_temp as $$
  with sealed as materialized (
    select u.id, u.capture, substr(seal.hashes, 32 * u.n::integer - 31, 32) as hash,
           coalesce(substr(seal.salts, 32 * u.n::integer - 31, 32), sha256(seal.secret || int8send(u.id))) as salt
      from unnest(seal.ids, seal.captures) with ordinality as u(id, capture, n)
  ), redacted as (
    select r.id as redaction, u.id, u.before, u.after
      from rowrelay.redaction r
     cross join unnest(r.change_ids, r.hashes_before, r.hashes_after) as u(id, before, after)
     where u.before is not null and u.id between seal.first_id and seal.last_id
  ), final as (
    select f.id, bool_and(f.fits) as fits, (array_agg(f.after order by f.redaction desc))[1] as hash
      from (select d.id, d.redaction, d.after,
                   d.before = coalesce(lag(d.after) over (partition by d.id order by d.redaction), s.hash) as fits
              from redacted d join sealed s on s.id = d.id) as f
     group by f.id
  )
  select s.id, s.capture, s.salt, case when f.id is null then s.hash when f.fits then f.hash end
    from sealed s left join final f on f.id = s.id
$$;
