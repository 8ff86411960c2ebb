-- Which of tables $1 (oids or names) have rows that routing them to target $2 does not bring there, because it keeps
-- the state of rows: how many they are, and their names as words of a command. Nothing is read of the tables.
--   $3 also those that go there already: they have just been routed  $4 the table's name there; null: as it is, or as
--   here
-- Gives uncopied: tables, words
with goes_to as (
  select t.id from rowrelay.target t where t.name = $2::text and t.dropped_at is null and rowrelay.keeps_state(t)
)
select count(*) as tables, string_agg(rowrelay.shell_word(rowrelay.full_name(o.oid)), ' ' order by o.place) as words
  from unnest($1::regclass[]) with ordinality as o(oid, place)
  cross join goes_to g
 where ($3::boolean
        or not exists (select from rowrelay.route r join rowrelay.capture c on c.id = r.capture
                        where c.relation = o.oid and c.released_at is null and r.target = g.id and r.until_id is null
                          and r.into_table = coalesce($4::text, r.into_table)))
   and rowrelay.may_have_rows(o.oid);
