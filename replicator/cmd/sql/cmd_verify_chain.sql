-- Problems of the chain of seals: $1 a head that was kept elsewhere; null: none.
-- Gives problem: kind, day, change_id, relation, key, detail
select v.problem as kind, v.day, v.change_id, v.relation, v.key, v.detail from rowrelay.verify_chain($1::text) v;
