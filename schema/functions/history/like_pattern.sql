-- Purpose:    returns the LIKE pattern that finds a text anywhere in another
create or replace function rowrelay.like_pattern(words text) returns text
language sql immutable parallel safe as $$
  select '%' || regexp_replace(words, E'([\\\\%_])', E'\\\\\\1', 'g') || '%'
$$;
