-- The state of all targets in figures, and those in trouble first, for the console. The order goes by powers of ten, so
-- that lines do not change places all the time.
--   $1 part of a target's name; null: any  $2 at most so many targets
with known as materialized (
  select s.target, s.state, s.backlog, s.errors, s.blocked
    from rowrelay.status s
), shown as materialized (
  select k.target,
         row_number() over (order by case k.state when 'halted' then 1 when 'failing' then 2 when 'not running' then 3
                                                  else 4 end,
                                     case when k.errors > 0 then length(k.errors::text) else 0 end desc,
                                     case when k.backlog >= 1000 then length(k.backlog::text) else 0 end desc,
                                     k.target) as place
    from known k
   where $1::text is null or strpos(lower(k.target), lower($1)) > 0
   order by place
   limit $2::integer
)
select json_build_object(
  'database', current_database(),
  'count', (select count(*) from known),
  'states', (select coalesce(json_object_agg(n.state, n.count), '{}')
               from (select k.state, count(*) as count from known k group by k.state) n),
  'errors', (select coalesce(sum(k.errors + k.blocked), 0)::text from known k),
  'matching', (select count(*) from known k where $1::text is null or strpos(lower(k.target), lower($1)) > 0),
  'processes', (select count(*) from rowrelay.instances i where i.state = 'running'),
  -- where it is shown, not on every page
  'log', case when $2::integer > 1 then
           (select format('The log has %s of %s day%s, %s.', pg_size_pretty(l.bytes), l.days,
                          case when l.days <> 1 then 's' end, coalesce('kept for ' || s.keep, 'kept for ever'))
              from rowrelay.log_size() as l cross join rowrelay.source s) end,
  'targets', (select coalesce(json_agg(t order by t.place), '[]')
                from (select o.place, s.target, s.state, s.backlog::text, extract(epoch from s.oldest_pending) as lag,
                             s.rate::text, s.errors::text, s.blocked::text, s.note
                        from rowrelay.status s
                        join shown o on o.target = s.target
                       where s.target = any (array(select n.target from shown n))) as t));
