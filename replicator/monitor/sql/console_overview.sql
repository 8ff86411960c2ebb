-- The state of all targets in figures, and those in trouble first, for the console: halted, failing and not running,
-- then those with errors, with changes that wait behind these or for their table, with a note of rows that may differ,
-- with old changes, and paused ones. The order goes by powers of ten, so that lines do not change places all the time.
--   $1 part of a target's name; null: any  $2 at most so many targets
with noted as materialized ( -- not by notes, which take long to compose for all targets
  select h.target from rowrelay.hold h
  union
  select t.id from rowrelay.gaps g join rowrelay.target t on t.name = g.target and t.dropped_at is null
  union
  select t.id from rowrelay.target t where t.may_differ is not null
), known as materialized (
  select s.target, s.state, s.backlog, s.errors, s.blocked,
         exists (select from noted n join rowrelay.target t on t.id = n.target
                  where t.name = s.target and t.dropped_at is null) as noted,
         greatest(extract(epoch from s.oldest_pending), 0) as lag
    from rowrelay.status s
), shown as materialized (
  select k.target,
         row_number() over (order by case k.state when 'halted' then 1 when 'failing' then 2 when 'not running' then 3
                                                  else 4 end,
                                     case when k.errors > 0 then length(k.errors::text) else 0 end desc,
                                     case when k.blocked > 0 then length(k.blocked::text) else 0 end desc,
                                     k.noted desc,
                                     -- from a hundred seconds on
                                     case when k.lag >= 100 then length(trunc(k.lag)::text) else 0 end desc,
                                     k.state = 'running',
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
  'troubled', (select count(*) from known k
                where k.state = 'running' and (k.errors > 0 or k.blocked > 0 or k.noted)),
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
