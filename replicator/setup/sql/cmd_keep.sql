-- Sets how long changes are kept: $1 an interval, forever or default; $2 tables (names or oids); null: the whole log.
select rowrelay.keep($1::text, $2::regclass[]);
