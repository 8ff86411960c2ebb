-- Whether a target has refused changes. It also restores the setting for plans. It runs after the claim's rows were
-- read: a barrier that they no longer saw may have been refused just before.
--   $1 target
select exists (select from rowrelay.refusal f where f.target = $1::integer and f.state <> 'waiting'),
       set_config('plan_cache_mode', 'force_generic_plan', true);
