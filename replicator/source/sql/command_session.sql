-- What the session of a command needs, whatever its role's and database's defaults are, as pg_dump has it: no limit but
-- its own options, the right to write, texts of statements that mean what they say, and a machine that has died lets go of
-- what it held. Dates, times and search_path stay as they are, because they are how a person writes and reads.
select pg_catalog.set_config(s.name, w.value, false)
  from (values ('standard_conforming_strings', 'on'), ('default_transaction_read_only', 'off'),
               ('default_transaction_isolation', 'read committed'),
               ('statement_timeout', '0'), ('lock_timeout', '0'), ('idle_in_transaction_session_timeout', '0'),
               ('transaction_timeout', '0'), ('idle_session_timeout', '0'),
               ('tcp_keepalives_idle', '15'), ('tcp_keepalives_interval', '5'), ('tcp_keepalives_count', '3'),
               ('tcp_user_timeout', '120000')) as w(name, value)
  join pg_catalog.pg_settings s on s.name operator(pg_catalog.=) w.name;
