-- What the present role may see of the log behind a cursor: each change as an object, with the cursor behind it; at
-- last, when there are no more, a cursor alone. Only as many as have so many bytes together, but one at least; found
-- counts those that were left out, too.
--   $1 cursor  $2 how many at most  $3 tables, an array of ids, or null: all  $4 bytes
-- Gives heard: next_cursor, line, found
select b.next_cursor, b.line, b.found
  from (select l.next_cursor, l.line, l.place,
               count(*) over () as found,
               coalesce(sum(octet_length(l.line)) over (order by l.place rows between unbounded preceding
                                                                               and 1 preceding), 0) as before
          from (select c.next_cursor, c.place,
                       case when c.change_id is not null then
                         json_build_object('change_id', c.change_id, 'relation', c.relation, 'op', c.op, 'key', c.key,
                                           'old_row', c.old_row, 'new_row', c.new_row, 'captured_at', c.captured_at,
                                           'txid', c.txid, 'actor', c.actor, 'problem', c.problem)::text
                       end as line
                  from rowrelay.changes_since($1, $2::integer, $3::oid[]::regclass[])
                    with ordinality as c(next_cursor, change_id, relation, op, key, old_row, new_row, captured_at,
                                         txid, actor, problem, place)) as l) as b
 where b.before < $4::bigint
 order by b.place;
