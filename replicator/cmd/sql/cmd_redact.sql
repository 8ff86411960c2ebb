-- Removes values from the log: $1 oid of the table, $2 key, $3 columns, $4 whether under the row's older keys too, $5
-- why.
select rowrelay.redact($1::oid::regclass, $2, $3::text[], $4::boolean, $5);
