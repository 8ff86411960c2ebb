-- Row $2 (null: the first 50 rows) of table $1 as it was at time $3, for the console: [[column, value], ...] of each.
select coalesce(json_agg(rowrelay.image_texts(p.r)), '[]')
  from (select r from rowrelay.past_json($1::text::regclass, $3::timestamptz, $2::text) as r limit 50) as p;
