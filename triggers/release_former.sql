-- Purpose:    ends the captures of tables that are gone and had the name of one that is captured now. A name means the
--             new table from then on.
-- Parameters: capture of the new table; lock_wait: as for rowrelay.release_table()
-- Result:     warns of targets that got the former's changes and do not get the new one's
create or replace function rowrelay.release_former(capture rowrelay.capture, lock_wait interval) returns void
language plpgsql as $$
declare
  former  rowrelay.capture;
  targets text;
  routes  text;
begin
  for former in
    select c.* from rowrelay.capture c
     where capture.relation_name in (c.relation_name, c.chosen_name) and c.released_at is null and c.relation <> 0
       and not exists (select from pg_class r where r.oid = c.relation)
     order by c.id
  loop
    select string_agg(format('"%s"', t.name), ', ' order by t.name),
           string_agg(rowrelay.command('rowrelay route %s %s', 'select rowrelay.route(%L, %L);',
                                       capture.relation_name, t.name), '; ' order by t.name)
      into targets, routes
      from rowrelay.route r join rowrelay.target t on t.id = r.target and t.dropped_at is null
     where r.capture = former.id and r.until_id is null
       and not exists (select from rowrelay.route o
                        where o.capture = capture.id and o.target = r.target and o.until_id is null);
    perform rowrelay.release_table(former.relation, lock_wait);
    if targets is not null then
      raise warning 'table % goes no longer to %, because it was dropped and created again', capture.relation_name,
        targets
        using hint = 'If it is to go there again: ' || routes;
    end if;
  end loop;
end
$$;
