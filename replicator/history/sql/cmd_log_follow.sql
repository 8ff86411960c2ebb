-- Where following the log begins: whether this server is a standby, and the first day in which new changes are
-- expected: yesterday, or the day before the last one there is where no partition was made for long. Days of
-- transactions that began earlier are read less often.
select pg_is_in_recovery(),
       least((now() at time zone 'UTC')::date, (select max(b.day) from rowrelay.day_bounds() b)) - 1;
