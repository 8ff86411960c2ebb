-- Whether a target has refused changes; and puts back how statements are planned. It comes after the rows of the claim are
-- read: a barrier of which they saw no more may have been refused just before.
--   $1 target
select exists (select from rowrelay.refusal f where f.target = $1::integer and f.state <> 'waiting'),
       set_config('plan_cache_mode', 'force_generic_plan', true);
