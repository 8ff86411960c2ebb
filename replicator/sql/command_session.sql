-- What the session of a command needs, whatever its role's and database's defaults are, as pg_dump has it: no limit but
-- its own options, the right to write, and texts of statements that mean what they say. Dates, times and search_path
-- stay as they are, because they are how a person writes and reads.
select pg_catalog.set_config(s.name, w.value, false)
  from (values ('standard_conforming_strings', 'on'), ('default_transaction_read_only', 'off'),
               ('default_transaction_isolation', 'read committed'),
               ('statement_timeout', '0'), ('lock_timeout', '0'), ('idle_in_transaction_session_timeout', '0'),
               ('transaction_timeout', '0'), ('idle_session_timeout', '0')) as w(name, value)
  join pg_catalog.pg_settings s on s.name operator(pg_catalog.=) w.name;
