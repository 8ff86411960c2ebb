-- Refuses a change of target or document $1 that cannot work: $2 URL  $3 options; null leaves either as it is.
select rowrelay.check_target_change(t, $2::text, $3::jsonb)
  from rowrelay.target t
 where t.name = $1::text and t.dropped_at is null;
