-- One installation or removal of schema rowrelay at a time: whoever does it takes this lock first, in the transaction
-- that does it. Its number is 'rowrelay' in ASCII.
do $$
begin
  perform pg_catalog.pg_advisory_xact_lock(x'726f7772656c6179'::bigint);
end
$$;
