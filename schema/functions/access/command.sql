-- Purpose:    tells people what to run, in the words in which they asked: a command, or SQL
-- Parameters: in_shell: the command of rowrelay; in_sql: the same for psql; names that both hold, as for format(): %s
--             in in_shell, where each becomes a word of the shell; %s (of tables, quoted already) and %L in in_sql
-- Result:     in_shell in a session of rowrelay's own, which has the setting rowrelay.shell
--             (replicator/postgres/sql/session_settings.sql); else in_sql
create or replace function rowrelay.command(in_shell text, in_sql text, variadic names text[] default '{}')
  returns text
language sql stable set search_path = pg_catalog, pg_temp as $$
  select case when current_setting('rowrelay.shell', true) = 'on'
              then format(in_shell, variadic array(select rowrelay.shell_word(n.name)
                                                     from unnest(names) with ordinality as n(name, place)
                                                    order by n.place))
              else format(in_sql, variadic names) end
$$;
