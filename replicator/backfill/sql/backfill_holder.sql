-- Records which session has locked the row that backfill $1 has to read next, and gives that note.
update rowrelay.backfill b
   set note = coalesce(rowrelay.backfill_holder(b.id), 'waits for a row that another session has locked')
 where b.id = $1::integer
returning b.note;
