-- How long a push may take. Its client gives up by then, and a server that went on would only stand in the way of the next
-- one; one that waits for a client which stands still would keep the fence closed for ever.
--   $1 milliseconds
select set_config('statement_timeout', $1, false), set_config('idle_in_transaction_session_timeout', $1, false);
