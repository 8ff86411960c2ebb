-- What the session needs that reads a table as a whole, which may take hours: no time limit that is the role's or the
-- database's, and no plan but the best. Rows that a policy hides must be an error, not missing.
select set_config(s.name, w.value, false)
  from (values ('search_path', 'pg_catalog, pg_temp'), ('datestyle', 'ISO, MDY'), ('intervalstyle', 'postgres'),
               ('timezone', 'UTC'), ('lc_monetary', 'C'), ('extra_float_digits', '1'), ('bytea_output', 'hex'),
               ('quote_all_identifiers', 'off'), ('xmloption', 'content'), ('row_security', 'off'),
               ('default_transaction_isolation', 'read committed'),
               ('statement_timeout', '0'), ('lock_timeout', '100ms'), ('idle_in_transaction_session_timeout', '0'),
               ('transaction_timeout', '0'), ('idle_session_timeout', '0'),
               ('tcp_keepalives_idle', '15'), ('tcp_keepalives_interval', '5'), ('tcp_keepalives_count', '3')) as w(name, value)
  join pg_settings s on lower(s.name) = w.name;
