-- Changes in days that had none when the seal passed over them.
-- Gives problem: kind, day, change_id, relation, key, detail
select v.problem as kind, v.day, v.change_id, v.relation, v.key, v.detail from rowrelay.verify_unsealed() v;
