-- One installation or removal of schema rowrelay at a time: both take this lock first, in the transaction
-- that does it. Its number is 'rowrelay' in ASCII.
do $$
begin
  perform pg_catalog.pg_advisory_xact_lock(x'726f7772656c6179'::bigint);
end
$$;
