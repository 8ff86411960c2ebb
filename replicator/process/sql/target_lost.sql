-- Notes for status that target $1 may differ from the tables: $2 what happened, $3 what helps (null: to compare).
select rowrelay.note_loss($1::integer, $2::text, $3::text);
