-- Which of tables $1 (oids) have rows and do not go to target $2 yet, if it keeps the state of rows: how many they are,
-- and their names as words of a command. Nothing is read of the tables: a table counts as empty if it has no pages, or
-- had no rows when it was last vacuumed or analyzed and has not grown since.
-- Gives uncopied: tables, words
with goes_to as (
  select t.id from rowrelay.target t where t.name = $2::text and t.dropped_at is null and rowrelay.keeps_state(t)
)
select count(*) as tables, string_agg(rowrelay.shell_word(rowrelay.full_name(o.oid)), ' ' order by o.place) as words
  from unnest($1::oid[]) with ordinality as o(oid, place)
  cross join goes_to g
 where not exists (select from rowrelay.route r join rowrelay.capture c on c.id = r.capture
                    where c.relation = o.oid and c.released_at is null and r.target = g.id and r.until_id is null)
   and exists (select from pg_class c
                where (c.oid = o.oid or c.oid in (select p.relid from pg_partition_tree(o.oid) as p))
                  and c.relkind = 'r' and pg_relation_size(c.oid) > 0
                  and (c.reltuples <> 0
                       or c.relpages < pg_relation_size(c.oid) / current_setting('block_size')::integer));
