-- Discards what was refused, or waits, of table $1 (its name): $2 at this target; null: at all.
select rowrelay.skip_table($1::text, $2::text);
