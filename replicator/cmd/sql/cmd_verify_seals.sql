-- What is wrong with the changes of the seals from position $1 to $2.
select v.problem, v.day, v.change_id, v.relation, v.key, v.detail
  from rowrelay.seal s cross join lateral rowrelay.verify_seal(s.position) v
 where s.position between $1::bigint and $2::bigint;
