-- Backfill $1 waits, and people are told $2, until it begins to copy.
update rowrelay.backfill b set note = $2::text
 where b.id = $1::integer and b.state = 'copying' and b.note is distinct from $2::text;
