-- Drops what is old enough: $1 how long to keep (null: as was said), $2 whether to give up what is not delivered, $3 whether
-- days that were restored go too. One day at a time, so that no lock is held for long.
-- Gives pruned: day, outcome, note
select p.day, p.outcome, p.note from rowrelay.prune($1::interval, $2::boolean, $3::boolean, 1) as p;
