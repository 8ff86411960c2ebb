-- After a document's query: restores what document_begin.sql has set, to the values of session_settings.sql.
select set_config('plan_cache_mode', 'force_generic_plan', true),
       set_config('row_security', 'on', true),
       set_config('enable_seqscan', 'off', true), set_config('enable_bitmapscan', 'off', true),
       set_config('enable_hashjoin', 'off', true), set_config('enable_mergejoin', 'off', true);
