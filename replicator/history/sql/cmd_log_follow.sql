-- Where following the log begins: whether this server is a standby, and the first day in which changes are expected from
-- now on: yesterday, or before the last day there is where no partition was made for long. Those of transactions that
-- began earlier are looked for less often.
select pg_is_in_recovery(),
       least((now() at time zone 'UTC')::date, (select max(b.day) from rowrelay.day_bounds() b)) - 1;
