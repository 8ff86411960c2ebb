-- The captured tables and how they are captured; note says what happened to the table and needs attention.
create or replace view rowrelay.captures as
select c.relation,
       c.relation_name,
       rowrelay.attribute_names(c.relation, c.key_columns) as key,
       rowrelay.attribute_names(c.relation, c.lane_columns) as lane,
       case when c.only_columns is not null then i.keep end as columns,
       i.leave_out as exclude,
       nullif(i.masks::jsonb, '{}') as mask,
       c.row_filter,
       c.before,
       c.capture_origin,
       array(select t.name from rowrelay.route r join rowrelay.target t on t.id = r.target
              where r.capture = c.id and r.until_id is null and t.dropped_at is null order by t.name) as targets,
       n.note,
       case when c.keep >= interval '100000 years' then 'forever' else c.keep::text end as keep,
       (select string_agg(format('waits at %s since %s: %s', t.name, to_char(h.since, 'YYYY-MM-DD HH24:MI:SS'),
                                 concat_ws(' -- ', h.message, h.hint)), '; ' order by t.name)
          from rowrelay.hold h join rowrelay.target t on t.id = h.target where h.capture = c.id) as waits,
       rowrelay.is_native(c.id) as native,
       c.per,
       case when c.per = 'statement' then rowrelay.statement_obstacle(c) end as by_row_because,
       case when not rowrelay.is_native(c.id) then o.obstacle end as native_obstacle
  from rowrelay.capture k
 cross join lateral rowrelay.renumbered(k) as c
  left join rowrelay.capture_notes() as n on n.capture = c.id
  left join rowrelay.native_obstacle() as o on true
  cross join lateral rowrelay.image_columns(c) as i
 where c.released_at is null;
comment on view rowrelay.captures is 'the tables whose changes are captured, and how';
