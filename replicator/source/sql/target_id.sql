-- Gives target $1's id, and locks nothing. Fails, naming the targets there are, unless it is one.
select coalesce((select t.id from rowrelay.target t where t.name = $1::text and t.dropped_at is null),
                rowrelay.target_id($1::text));
