-- Whether $1 is the name of a target.
select exists (select from rowrelay.targets t where t.name = $1::text) as is_target;
