-- The statement that reads a table, or one row of it, as it was. Its cursor outlives the transaction, so that none
-- stays open while a person reads.
--   $1 the table, as an array of one  $2 when  $3 the row's key; null: all  $4 maximum number of rows; null: all
select format('declare past no scroll cursor with hold for select r from rowrelay.past_json(%s::regclass, '
              '%L::timestamptz, %L) as r limit %s',
              ($1::oid[])[1], $2::timestamptz, $3::text, coalesce($4::bigint::text, 'all'));
