-- Purpose:    what has happened to captured tables that needs attention. All of them at once, because status asks often,
--             and there may be thousands.
-- Result:     capture; note. None for a capture of which there is nothing to say.
create or replace function rowrelay.capture_notes() returns table (capture integer, note text)
-- processes have other plans forbidden, which suit the queue
language plpgsql stable set plan_cache_mode = auto set enable_seqscan = on set enable_bitmapscan = on set enable_hashjoin = on
set enable_mergejoin = on set jit = off as $$
begin
  return query
    select n.capture, n.note
      from (select c.id as capture,
                   case
                     when r.oid is null then
                       'the table is gone'
                     when l.for_rows then
                       'triggers are missing or disabled: capture the table again'
                     when l.for_truncates then
                       'a partition has no truncate trigger yet'
                     when exists (select from unnest(c.key_columns) as k(number)
                                   where not exists (select from pg_attribute a
                                                      where a.attrelid = c.relation and a.attnum = k.number and not a.attisdropped)) then
                       'a key column was dropped: capture the table again'
                     when cardinality(c.key_columns) > 0 and not rowrelay.key_is_unique(c)
                          and rowrelay.key_guard(c.relation, c.key_columns) not in ('table', 'parts') then
                       'nothing keeps its key unique any more: rows with the same key are one row in a target'
                     when c.column_state is distinct from s.state then
                       'the table was altered: captured the slow way until its trigger function is made anew'
                   end as note
              from rowrelay.capture c
              left join pg_class r on r.oid = c.relation
              left join rowrelay.lacking_triggers() as l on l.capture = c.id
              left join rowrelay.column_states(array(select k.id from rowrelay.capture k where k.released_at is null)) as s
                     on s.capture = c.id
             where c.released_at is null) as n
     where n.note is not null;
end
$$;
