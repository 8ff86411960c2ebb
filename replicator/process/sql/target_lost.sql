-- Notes that the server of target $1 has lost what it had, for status: $2 what, $3 what helps. It stays until changes
-- are replayed, or the target is resumed.
update rowrelay.target t
   set reason = format('at %s %s -- %s', to_char(now(), 'YYYY-MM-DD HH24:MI:SS'), $2::text, $3::text)
 where t.id = $1::integer and t.state = 'running';
