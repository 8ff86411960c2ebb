-- Begins to write day $1 to a file.
-- Gives begun: header, statement, note
select a.header, a.statement, a.note from rowrelay.archive_begin($1::date) as a;
