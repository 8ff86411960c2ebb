-- Before a document's query: it is planned as it would be for the person who wrote it, not as our own statements are.
-- Rows that a policy hides must be an error, not missing from documents.
select set_config('plan_cache_mode', 'auto', true),
       set_config('row_security', 'off', true),
       set_config('enable_seqscan', 'on', true), set_config('enable_bitmapscan', 'on', true),
       set_config('enable_hashjoin', 'on', true), set_config('enable_mergejoin', 'on', true);
