-- What is captured now, and how; note says what has happened to the table since that needs attention.
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
       case
         when not exists (select from pg_class r where r.oid = c.relation) then
           'the table is gone'
         when exists (select from unnest(rowrelay.captured_tables(c)) as m
                       where not exists (select from rowrelay.own_triggers(c) o
                                          where o.relation = m and o.name <> '!rowrelay_truncate' and o.is_always)) then
           'triggers are missing or disabled: capture the table again'
         when exists (select from unnest(rowrelay.captured_tables(c)) as m
                       where not exists (select from rowrelay.own_triggers(c) o
                                          where o.relation = m and o.name = '!rowrelay_truncate' and o.is_always)) then
           'a partition has no truncate trigger yet'
         when array_position(rowrelay.attribute_names(c.relation, c.key_columns), null) is not null then
           'a key column was dropped: capture the table again'
         when c.column_state is distinct from rowrelay.column_state(c) then
           'the table was altered: captured the slow way until its trigger function is made anew'
       end as note,
       case when c.keep >= interval '100000 years' then 'forever' else c.keep::text end as keep,
       (select string_agg(format('waits at %s since %s: %s', t.name, to_char(h.since, 'YYYY-MM-DD HH24:MI:SS'),
                                 concat_ws(' -- ', h.message, h.hint)), '; ' order by t.name)
          from rowrelay.hold h join rowrelay.target t on t.id = h.target where h.capture = c.id) as waits
  from rowrelay.capture c
  cross join lateral rowrelay.image_columns(c) as i
 where c.released_at is null;
comment on view rowrelay.captures is 'the tables whose changes are captured, and how';
