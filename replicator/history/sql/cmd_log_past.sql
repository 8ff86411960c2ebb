-- The statement that reads a table, or one row of it, as it was. Its cursor outlives the transaction, so that none
-- stays open while a person reads.
--   $1 the table, as an array of one  $2 when  $3 the row's key; null: all  $4 maximum number of rows; null: all
select format('declare past no scroll cursor with hold for select %s from %s as r limit %s',
              rowrelay.row_image(t.row_type, 'r'),
              case when $3::text is null
                   then format('rowrelay.as_of(null::%s, %L::timestamptz)', t.name, $2::timestamptz)
                   else format('rowrelay.row_as_of(null::%s, %L, %L::timestamptz)', t.name, $3::text, $2::timestamptz)
              end,
              coalesce($4::bigint::text, 'all'))
  from (select c.oid::regclass::text as name, c.reltype as row_type
          from pg_class c where c.oid = ($1::oid[])[1]) as t;
