-- How many refused changes there are: of target $1 (null: all), and of tables $2 (oids; null: all).
select count(*)
  from rowrelay.errors e
 where ($1::text is null or e.target = $1)
   and ($2::oid[] is null or e.relation = any ($2::oid[]));
