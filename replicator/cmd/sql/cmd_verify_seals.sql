-- Problems of the changes under the seals from position $1 to $2.
-- Gives problem: kind, day, change_id, relation, key, detail
select v.problem as kind, v.day, v.change_id, v.relation, v.key, v.detail
  from rowrelay.seal s cross join lateral rowrelay.verify_seal(s.position) v
 where s.position between $1::bigint and $2::bigint;
