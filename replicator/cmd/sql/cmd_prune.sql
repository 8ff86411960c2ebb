-- Drops one day that is past its retention; one day at a time, so that no lock is held for long.
--   $1 how long to keep; null: the setting  $2 whether to discard what is not delivered  $3 whether restored days go
--      too
-- Gives pruned: day, outcome, note
select p.day, p.outcome, p.note from rowrelay.prune(rowrelay.read_interval($1::text), $2::boolean, $3::boolean, 1) as p;
