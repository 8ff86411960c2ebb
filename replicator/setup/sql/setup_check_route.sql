-- Refuses a route that cannot work, of a table and to a target that may both be new.
--   $1 table  $2 target  $3 URL and  $4 options that it will have  $5 the table's name there  $6 whether tables may
--   share it
select rowrelay.check_route(coalesce(c, jsonb_populate_record(null::rowrelay.capture,
                                                              jsonb_build_object('id', 0, 'relation', k.relation))),
                            jsonb_populate_record(t, jsonb_build_object('id', coalesce(t.id, 0), 'name', $2::text,
                                                                        'url', $3::text, 'options', $4::jsonb)),
                            $5::text, coalesce($6::boolean, false))
  from (select $1::regclass as relation) as k
  left join rowrelay.capture c on c.relation = k.relation and c.released_at is null
  left join rowrelay.target t on t.name = $2::text and t.dropped_at is null;
