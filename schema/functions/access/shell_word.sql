-- Purpose:    quotes a word of a command for a shell, so that the command can be pasted
-- Parameters: the word
-- Result:     the word as a shell reads it, in single quotes if needed; null for null
create or replace function rowrelay.shell_word(word text) returns text
language sql immutable set search_path = pg_catalog, pg_temp as $$
  select case when word ~ '^[A-Za-z0-9_./:@%+=,][-A-Za-z0-9_./:@%+=,]*$' then word
              else '''' || replace(word, '''', E'''\\''''') || '''' end
$$;
