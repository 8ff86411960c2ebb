-- Discards refused and waiting changes of table $1 (name) at target $2; null: at all targets.
select rowrelay.skip_table($1::text, $2::text);
