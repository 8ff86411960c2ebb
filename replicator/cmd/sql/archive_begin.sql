-- Begins writing day $1 out.
-- Gives begun: header, statement, note
select a.header, a.statement, a.note from rowrelay.archive_begin($1::date) as a;
