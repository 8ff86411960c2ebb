-- Captured tables by name, for the console.
--   $1 part of the name; null: any  $2 at most so many
select coalesce(json_agg(c order by c.relation_name), '[]')
  from (select c.relation_name, c.key, c.columns, c.exclude, c.row_filter, c.before, c.targets, c.keep, c.native,
               concat_ws('; ', c.note, c.waits) as note
          from rowrelay.captures c
         where $1::text is null or strpos(lower(c.relation_name), lower($1)) > 0
         order by c.relation_name
         limit $2::integer) as c;
