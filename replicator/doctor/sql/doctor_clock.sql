-- The server's time. Microseconds since 1970.
select (extract(epoch from pg_catalog.clock_timestamp()) * 1000000)::int8;
