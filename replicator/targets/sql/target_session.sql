-- Settings that a session at the target needs, whatever its server's defaults are. What the target acknowledges leaves
-- the queue, so it must be on the target's disk. The server bounds a push too: its client stops waiting by then, and a
-- statement that went on would only be in the way of the next one; one that waits for a stopped client would block the
-- fence for ever.
--   $1 time limit of a push, in milliseconds
select set_config('statement_timeout', $1, false),
       set_config('idle_in_transaction_session_timeout', $1, false),
       case when current_setting('synchronous_commit') = 'off'
            then set_config('synchronous_commit', 'local', false) end;
