-- Records how far a target is settled, for processes that start later. Not if its rows were rewound since, nor while a
-- session is about to do that: the lock skips what is not committed yet, and a later call records it. Nor if the
-- database was restored since the process connected, to where smaller ids are new.
--   $1 target  $2 version  $3 floor
insert into rowrelay.floor as f (target, version, floor)
select t.id, t.version, $3::bigint from rowrelay.target t where t.id = $1::integer and t.version = $2::integer
    and rowrelay.another_life() is null
   for share skip locked
on conflict (target) do update set version = excluded.version, floor = excluded.floor
  where f.floor < excluded.floor;
