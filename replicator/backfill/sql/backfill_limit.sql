-- Ends the transaction's statements when they take longer than $1 milliseconds: rows may be locked meanwhile.
select set_config('statement_timeout', $1, true);
