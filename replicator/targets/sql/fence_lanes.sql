-- The numbers of the last claims of a source that the target knows, of one target's lanes; lane null: of none.
--   $1 source  $2 first lane  $3 last lane
select s.is_standby, f.lane, f.token
  from (select pg_is_in_recovery() as is_standby) as s
  left join rowrelay_target.fence f on f.source = $1::uuid and f.lane between $2::integer and $3::integer;
