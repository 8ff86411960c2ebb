-- Changes in days that had none when they were passed over.
select v.problem, v.day, v.change_id, v.relation, v.key, v.detail from rowrelay.verify_unsealed() v;
