-- Remembers how far a target is settled, for processes that start later. Not if its rows have been rewound since.
--   $1 target  $2 version  $3 floor
insert into rowrelay.floor as f (target, version, floor)
select t.id, t.version, $3::bigint from rowrelay.target t where t.id = $1::integer and t.version = $2::integer
on conflict (target) do update set version = excluded.version, floor = excluded.floor
  where f.floor < excluded.floor;
