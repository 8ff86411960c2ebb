-- Which captured tables who asks may not read: their history and errors are hidden.
--   $1 oids of the tables that were asked for; $2 whether somebody named them
-- Gives finding: level, what, tables, meaning, command
select 'warn' as level, 'rights to read' as what, null::json as tables, h.message as meaning, h.hint as command
  from rowrelay.hidden_tables(case when $2::bool then $1::oid[]::regclass[] end) as h
 where h.message is not null;
