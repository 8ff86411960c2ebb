-- Of which captured tables nothing is shown to who asks, and what to do; no row: of none.
--   $1 oids of the tables that were asked for; null: all
-- Gives hidden: message, hint
select h.message as message, h.hint as hint from rowrelay.hidden_tables($1::oid[]::regclass[]) as h
 where h.message is not null;
