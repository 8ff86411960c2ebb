-- What a session at the target needs, whatever its server's defaults are. What it acknowledges has left the queue, so it
-- must be on its disk. And a push is bounded there too: its client gives up by then, and a server that went on would only
-- stand in the way of the next one; one that waits for a client which stands still would keep the fence closed for ever.
--   $1 how long a push may take, in milliseconds
select set_config('statement_timeout', $1, false),
       set_config('idle_in_transaction_session_timeout', $1, false),
       case when current_setting('synchronous_commit') = 'off' then set_config('synchronous_commit', 'local', false) end;
