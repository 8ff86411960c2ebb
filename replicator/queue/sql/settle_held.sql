-- Holds tables that the target cannot take: what was claimed of them waits from now on, with all that follows. Where a
-- push was tried and failed, released changes wait again, and the next attempt comes later. The target's new version
-- tells all processes that a table is held which was not, or that fewer changes may pass than before: a claim just
-- being made has read the holds already, but not yet the rows.
--   $1 target  $2 [{"capture", "first_id": of what was claimed, "sqlstate", "message", "hint"}]; message null: no push
--   was tried
with claimed as (
  select *
    from json_to_recordset($2::json) as r(capture integer, first_id bigint, sqlstate text, message text, hint text)
), noted as (
  insert into rowrelay.hold as h (target, capture, released_to, retry_at, attempts, sqlstate, message, hint)
  select $1::integer, c.capture, case when c.message is null then c.first_id - 1 else 0 end,
         clock_timestamp() + interval '200 ms', (c.message is not null)::integer, c.sqlstate,
         coalesce(c.message, 'an older change of this table waited'), c.hint
    from claimed c
   order by c.capture
  on conflict (target, capture) do update
    set released_to = least(h.released_to, excluded.released_to),
        released = case when excluded.attempts > 0 or excluded.released_to < h.released_to then 0
                        else h.released end,
        piece = case when excluded.attempts > 0 then 1 else h.piece end,
        attempts = h.attempts + excluded.attempts,
        retry_at = case when excluded.attempts > 0
                        then clock_timestamp() + least(15000, 200 * 2 ^ least(h.attempts, 20)) * (0.5 + random() / 2)
                                                 * interval '1 ms'
                        -- some were released after this claim had read the holds, and are set aside untried
                        when excluded.released_to < h.released_to
                          then least(h.retry_at, clock_timestamp() + interval '200 ms')
                        else h.retry_at end,
        sqlstate = case when excluded.attempts > 0 then excluded.sqlstate else h.sqlstate end,
        message = case when excluded.attempts > 0 then excluded.message else h.message end,
        hint = case when excluded.attempts > 0 then excluded.hint else h.hint end
  returning (h.xmax = 0) as is_new
)
update rowrelay.target t set version = t.version + 1
 where t.id = $1::integer
   and exists (select from noted n where n.is_new or exists (select from claimed c where c.message is not null));
