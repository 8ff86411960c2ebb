-- Discards refused changes that no longer matter to a target which keeps the state of rows: those of a row that a newer
-- delivered change has replaced, and those of a table that was truncated since.
-- The same row has an equal key. Equal hashes do not prove that, nor do equal texts of keys when the table has got
-- another key since.
--   $1 target  $2 [{"id", "capture", "key", "hash"}] of what was delivered; key is null for a truncate; hash only for
--   keys that may be equal though their texts differ
--   $3 token  $4 instance  $5 when the batch was claimed
with delivered as materialized ( -- the last change of each key, and the last truncate of each table
  select distinct on (d.capture, d.key) d.*, coalesce(d.hash, rowrelay.text_hash(d.key)) as row_hash
    from json_to_recordset($2::json) as d(id bigint, capture integer, key text, hash bigint)
   order by d.capture, d.key, d.id desc
), moot as materialized (
  select f.change_id
    from delivered d
    join rowrelay.refusal f on f.target = $1::integer and f.capture = any (rowrelay.captures_alike(d.capture))
     and f.row_hash in (d.row_hash, 0)
     and f.change_id < d.id and f.state <> 'waiting' -- nothing overtakes those, of which there may be millions
   where d.key is not null
     and not exists (select from rowrelay.shape s where s.capture = f.capture and s.begins and s.from_id >= f.change_id)
     -- only where something was refused: both functions may have to read the log
     and case when f.key = d.key or d.hash is not null and rowrelay.is_same_key(d.capture, f.key, d.key)
              then not rowrelay.is_undecided(d.capture, d.key, d.id)
              else false end
  union all
  select f.change_id
    from delivered d
    join rowrelay.refusal f on f.target = $1::integer and f.change_id < d.id and f.state <> 'waiting'
     and f.capture = any (rowrelay.captures_of_place(d.capture, $1::integer))
   where d.key is null
), gone as (
  delete from rowrelay.refusal f
   where f.target = $1::integer and f.change_id in (select m.change_id from moot m)
  returning f.change_id, f.message as error
)
insert into rowrelay.receipt (token, part, target, outcome, error, attempts, instance, host, pid, claimed_at,
                              settled_at, change_ids, first_id, last_id)
select $3::bigint, - row_number() over (order by g.error), $1::integer, 'superseded', g.error, 0, $4::uuid, i.host,
       i.pid, $5::timestamptz, clock_timestamp(), array_agg(g.change_id order by g.change_id),
       min(g.change_id), max(g.change_id)
  from gone g
  left join rowrelay.instance i on i.id = $4::uuid
 group by g.error, i.host, i.pid;
