-- The statements that capturing a table would run there.
--   $1 the table (name or oid)  $2 columns of the key  $3 columns of the lane  $4 only these columns  $5 all but these
--   $6 masks  $7 row filter  $8 before image  $9 whether to capture what rowrelay itself writes  $10 whether to reset
--   settings that are not given  $11 target  $12 whether to make the table there  $13 like what  $14 per row or
--   statement  $15 how many tables that are not captured are captured before it
-- Gives capture_statements: statement, is_new
select s.statement, not exists (select from rowrelay.capture c
                                 where c.relation = $1::regclass and c.released_at is null) as is_new
  from rowrelay.capture_statements($1::regclass, key => $2::text[], lane => $3::text[], columns => $4::text[],
                                   exclude => $5::text[], mask => $6::jsonb, row_filter => $7::text,
                                   before => $8::text, capture_origin => $9::boolean, reset => $10::boolean,
                                   target => $11::text, create_table => $12::boolean,
                                   create_like => $13::text, per => $14::text, ahead => $15::integer) as s(statement);
