-- Ends this transaction's statements after $1 milliseconds, because they may hold locks on rows.
select set_config('statement_timeout', $1, true);
